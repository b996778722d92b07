"""Saturated is a state of its own: more is offered than the method can do, queues grow for as long
as one measures, and latency says how long that was. Nothing is wrong with such a measurement; its
throughput is a result, its percentiles are none.
"""

from __future__ import annotations

from turntable.systems.netclone.measurement import Measurement
from turntable.systems.netclone.times import mean_of, undilated
from turntable.verdict import Case

STEADY, SATURATED = "steady", "saturated"


def state_of(case: Case) -> str | None:
    """None without a measurement."""
    if not case.measurements:
        return None
    return SATURATED if any(is_saturated(m, case) for m in case.measurements) else STEADY


def is_saturated(measurement: Measurement, case: Case) -> bool:
    if delivered_share(measurement) < case.bounds["saturated_delivered_share"]:
        return True
    grown = growth(measurement)
    if grown is None:
        return False
    p99, mean = grown
    bounds = case.bounds
    return p99 > bounds["saturated_p99_growth"] and mean > bounds["saturated_mean_growth"]


def delivered_share(measurement: Measurement) -> float:
    clients = measurement.clients
    return clients.delivered / clients.offered if clients.offered else 1.0


def growth(measurement: Measurement) -> tuple[float, float] | None:
    """Of p99 and of the mean, from the window's first half to its second one. p99 alone jumps where
    it sits between two values of a bimodal distribution.
    """
    clients = measurement.clients
    halves = [undilated(texts, 1.0) for texts in (clients.first_half, clients.second_half)]
    if not all(half.values for half in halves):
        return None
    (first_p99, first_mean), (p99, mean) = ((half.percentile(99), mean_of(half)) for half in halves)
    return p99 / first_p99, mean / first_mean
