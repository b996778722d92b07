"""Saturated is a state of its own: more is offered than the method can do, queues grow for as long
as one measures, and latency says how long that was. Nothing is wrong with such a measurement; its
throughput is a result, its percentiles are none.
"""

from __future__ import annotations

from math import inf

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
    """What is lost says nothing about queues, so it must not excuse itself."""
    bounds = case.bounds
    if _not_late_share(measurement) < bounds["saturated_delivered_share"]:
        return True
    p99, mean = growth(measurement)
    return p99 > bounds["saturated_p99_growth"] and mean > bounds["saturated_mean_growth"]


def _not_late_share(measurement: Measurement) -> float:
    """Of the offered requests, all but those that were answered after the window."""
    clients = measurement.clients
    return delivered_share(measurement) + clients.lost / max(clients.offered, 1)


def delivered_share(measurement: Measurement) -> float:
    clients = measurement.clients
    return clients.delivered / clients.offered if clients.offered else 1.0


def growth(measurement: Measurement) -> tuple[float, float]:
    """Of p99 and of the mean, from the window's first half to its second one. p99 alone jumps where
    it sits between two values of a bimodal distribution. Without end where answers came up to the
    end, but none to requests of the second half.
    """
    clients = measurement.clients
    halves = [undilated(texts, 1.0) for texts in (clients.first_half, clients.second_half)]
    if not all(half.values for half in halves):
        still_answered = clients.per_second and clients.per_second[-1]["delivered"] > 0
        return (inf, inf) if still_answered and not halves[1].values else (1.0, 1.0)
    (first_p99, first_mean), (p99, mean) = ((half.percentile(99), mean_of(half)) for half in halves)
    return p99 / first_p99, mean / first_mean
