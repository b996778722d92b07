"""Latency at a target throughput, measured and predicted (docs/farreach.md, Latency at target
throughputs).

Predicted is an idle path plus the queue: every server has Poisson arrivals and a constant service
time. The path is that of requests which were sent one at a time before the load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from turntable import histograms
from turntable.results import Row
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.open_loop import Latencies, OpenLoop
from turntable.systems.farreach.queueing import mean_wait_s
from turntable.systems.farreach.state import state_of
from turntable.verdict import Case
from turntable_systems.farreach.offered import is_open, server_load, target_ops_per_s

COLUMNS = (
    "target_share",
    "target_ops_per_s",
    "offered_ops_per_s",
    "delivered_share",
    "state",
    "path_us",
    "busiest_load",
    "wait_us",
    "predicted_wait_us",
    "predicted_latency_mean_us",
    "latency_from_send_mean_us",
    "latency_from_send_p99_us",
    "send_late_p99_us",
)


@dataclass(frozen=True)
class Waits:
    """Of the requests that the bottleneck's server answered, pooled over all iterations."""

    idle_us: float  # one at a time: the path, and a service time
    loaded_us: float

    @property
    def wait_us(self) -> float:
        return self.loaded_us - self.idle_us


def loops(measurements: Sequence[Measurement]) -> list[OpenLoop]:
    return [m.open_loop for m in measurements if m.open_loop is not None]


def columns(case: Case) -> Row:
    """Empty where loops are closed."""
    missing = dict.fromkeys(COLUMNS)
    opened = loops(case.measurements)
    if not is_open(case.parameters):
        return missing
    target = target_ops_per_s(case.parameters, case.prediction)
    planned = missing | {
        "target_share": case.parameters.get("target_share"),
        "target_ops_per_s": target,
        "busiest_load": _load(case),
    }
    if case.complete and any(m.imported for m in case.measurements):
        return planned | _paced(case, target)
    if not case.complete or not opened:
        return planned
    offered = sum(loop.offered for loop in opened)
    return planned | {
        "offered_ops_per_s": offered_ops_per_s(case.measurements),
        "delivered_share": sum(loop.delivered for loop in opened) / offered if offered else None,
        "state": state_of(case.measurements, case.parameters),
        **_latencies(case, opened),
    }


def _paced(case: Case, target_ops_per_s: float) -> Row:
    """Of imported results: what was answered is what is known."""
    total = 0.0
    for measurement in case.measurements:
        bottleneck, *rotated = measurement.partitions
        total += measurement.rates(bottleneck).total / len(case.measurements)
        total += sum(measurement.rates(partition).total for partition in rotated)
    state = state_of(case.measurements, case.parameters)
    return {"state": state, "delivered_share": total / target_ops_per_s}


def _latencies(case: Case, opened: Sequence[OpenLoop]) -> Row:
    waits = waits_of(case.measurements, case.prediction.bottleneck)
    capacity, load = case.parameters["capacity_ops_per_s"], _load(case)
    predicted = None if load is None else mean_wait_s(load, capacity)
    service_us = 1e6 / capacity if capacity else None
    late = histograms.merge((text, 1.0) for loop in opened for text in loop.send_late)
    return {
        "path_us": waits.idle_us - service_us if waits and service_us else None,
        "wait_us": waits.wait_us if waits else None,
        "predicted_wait_us": None if predicted is None else predicted * 1e6,
        "predicted_latency_mean_us": predicted_mean_us(case),
        **_from_send(case.measurements),
        "send_late_p99_us": late.percentile(99),
    }


def _from_send(measurements: Sequence[Measurement]) -> Row:
    """Weighted as latencies from the intended instants are (summary.weighted_partitions)."""
    parts = [
        (part, 1 / len(measurements) if partition == measurement.partitions[0] else 1.0)
        for measurement in measurements
        if measurement.open_loop is not None
        for partition, part in measurement.open_loop.partitions.items()
    ]
    merged = histograms.merge((text, weight) for part, weight in parts for text in part.from_send)
    sum_us = sum(part.from_send_sum_ns * weight for part, weight in parts) / 1000
    return {
        "latency_from_send_mean_us": sum_us / merged.total if merged.total else None,
        "latency_from_send_p99_us": merged.percentile(99),
    }


def _load(case: Case) -> float | None:
    return server_load(case.parameters, case.prediction, case.prediction.bottleneck)


def offered_ops_per_s(measurements: Sequence[Measurement]) -> float:
    """To all partitions at once: the bottleneck's mean, and every rotated partition's."""
    total = 0.0
    for measurement in measurements:
        bottleneck, *rotated = measurement.partitions
        parts = measurement.open_loop.partitions
        total += parts[bottleneck].offered / measurement.seconds / len(measurements)
        total += sum(parts[partition].offered for partition in rotated) / measurement.seconds
    return total


def waits_of(measurements: Sequence[Measurement], bottleneck: int) -> Waits | None:
    """None: nothing was answered by its server, or no path was measured."""
    parts = [loop.partitions[bottleneck] for loop in loops(measurements)]
    idle = _sum(part.idle_server for part in parts).mean_us
    loaded = _sum(part.server for part in parts).mean_us
    return None if idle is None or loaded is None else Waits(idle, loaded)


def predicted_mean_us(case: Case) -> float | None:
    """Of all requests, by their expected shares: the idle path, and the wait at their server."""
    parameters, prediction = case.parameters, case.prediction
    capacity = parameters["capacity_ops_per_s"]
    parts = [part for loop in loops(case.measurements) for part in loop.partitions.values()]
    idle_server = _sum(part.idle_server for part in parts).mean_us
    idle_switch = _sum(part.idle_switch for part in parts).mean_us
    total_us = 0.0
    for partition, requests in enumerate(prediction.requests):
        at_server = prediction.trace.shares[partition]
        hits = requests - at_server
        load = server_load(parameters, prediction, partition)
        wait_s = None if load is None else mean_wait_s(load, capacity)
        if wait_s is None or idle_server is None or (hits > _NO_HITS and idle_switch is None):
            return None
        total_us += at_server * (idle_server + wait_s * 1e6) + hits * (idle_switch or 0.0)
    return total_us / sum(prediction.requests)


_NO_HITS = 1e-12  # shares are not exact


def _sum(parts: Iterable[Latencies]) -> Latencies:
    return reduce(add, parts, Latencies())
