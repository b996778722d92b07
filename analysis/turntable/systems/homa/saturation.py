"""Saturated is a state of its own: the transport cannot carry the load, more and more calls wait
for a place, and round trips say how long that was. Nothing is wrong with such a measurement; what
it delivers is a result, its slowdowns are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from turntable.systems.homa.measurement import Measurement
from turntable.verdict import Case

STEADY, SATURATED = "steady", "saturated"
_GROWTH = 1.25  # of those that wait, from each third of the window to the next
_DELIVERED = 0.98
_CARRIED = 0.5  # who delivers less is not at a limit, but broken


def state_of(case: Case) -> str | None:
    """None without a measurement."""
    if not case.measurements:
        return None
    saturated = any(is_saturated(one, case.parameters) for one in case.measurements)
    return SATURATED if saturated else STEADY


def is_saturated(measurement: Measurement, parameters: Mapping[str, Any]) -> bool:
    """Less is delivered than offered, though not next to nothing, and what waits grows all the
    time, to more than all clients have under way: bursts end.
    """
    clients = measurement.clients
    share = clients.answered_bytes / max(clients.offered_bytes, 1)
    carried = share * max(parameters["load"], 1)  # of what links can
    if share >= _DELIVERED or carried < _CARRIED:
        return False
    thirds = _thirds(clients.waiting_max)
    if not thirds:
        return False
    first, second, third = thirds
    grows = second > _GROWTH * first and third > _GROWTH * second
    return grows and third > parameters["outstanding"] * parameters["clients"]


def _thirds(values: Sequence[int]) -> list[float]:
    length = len(values) // 3
    return [fmean(values[part * length : (part + 1) * length]) for part in range(3 * bool(length))]
