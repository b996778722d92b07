"""Whether an open loop offered more than the method can do. Then queues grow for as long as one
measures, and latency says how long that was. Nothing is wrong with such a measurement: what it
delivers is a result, its latencies are none. By which thresholds: turntable_core.saturation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

from turntable import histograms
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.open_loop import OpenLoop
from turntable.verdict import Case
from turntable_core.saturation import Half, grows, is_late
from turntable_systems.farreach.offered import is_open

STEADY, SATURATED = "steady", "saturated"
PACED = "paced"  # a closed loop that waits for its instants: imported results


def is_saturated(case: Case) -> bool:
    return state_of(case.measurements, case.parameters) == SATURATED


def state_of(measurements: Sequence[Measurement], parameters: Mapping[str, Any]) -> str | None:
    """None: loops are closed, or nothing was measured. The bottleneck runs in every iteration, so
    halves of their windows are looked at together: queues of a single one are long by chance.
    """
    if is_open(parameters) and any(m.imported for m in measurements):
        return PACED
    opened = [(m.open_loop, m.seconds) for m in measurements if m.open_loop is not None]
    if not is_open(parameters) or not opened:
        return None
    late = any(_is_late(loop, seconds) for loop, seconds in opened)
    return SATURATED if late or _grows([loop for loop, _ in opened]) else STEADY


def delivered_share(measurement: Measurement) -> float | None:
    loop = measurement.open_loop
    return None if loop is None or loop.offered == 0 else loop.delivered / loop.offered


def _is_late(loop: OpenLoop, seconds: float) -> bool:
    """What is lost says nothing about queues, so it must not excuse itself."""
    under_way = loop.latencies.sum_ns / 1e9 / seconds  # at any instant, on average (Little's law)
    return is_late(loop.offered - loop.lost - loop.delivered, loop.offered, under_way)


def _grows(opened: Sequence[OpenLoop]) -> bool:
    first = _half(tuple(text for loop in opened for text in loop.first_half))
    second = _half(tuple(text for loop in opened for text in loop.second_half))
    return bool(first.count and second.count) and grows(first, second)


@lru_cache(maxsize=8)  # several rules ask
def _half(texts: tuple[str, ...]) -> Half:
    merged = histograms.merge((text, 1.0) for text in texts)
    mean = fmean(merged.values, merged.weights) if merged.values else 0.0
    return Half(merged.total, mean, merged.percentile)
