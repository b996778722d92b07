"""Saturated is a state of its own: more is offered than the method can do, queues grow for as long
as one measures, and latency says how long that was. Nothing is wrong with such a measurement; its
throughput is a result, its percentiles are none. By which thresholds:
turntable_core.saturation.
"""

from __future__ import annotations

from functools import lru_cache

from turntable.systems.netclone.measurement import Measurement, Texts
from turntable.systems.netclone.times import mean_of, undilated
from turntable.verdict import Case
from turntable_core.saturation import Half, grows, is_late

STEADY, SATURATED = "steady", "saturated"


def state_of(case: Case) -> str | None:
    """None without a measurement."""
    if not case.measurements:
        return None
    return SATURATED if any(map(is_saturated, case.measurements)) else STEADY


def is_saturated(measurement: Measurement) -> bool:
    """What is lost says nothing about queues, so it must not excuse itself. Nor does a window in
    which a timeline does something: its halves are not alike.
    """
    clients = measurement.clients
    if measurement.events:
        return False
    late = clients.offered - clients.delivered - clients.lost
    return is_late(late, clients.offered, _under_way(measurement)) or _grows(measurement)


def delivered_share(measurement: Measurement) -> float:
    clients = measurement.clients
    return clients.delivered / clients.offered if clients.offered else 1.0


def _under_way(measurement: Measurement) -> float:
    """Requests at any instant, on average (Little's law)."""
    clients = measurement.clients
    return clients.offered / measurement.seconds * _latencies(clients.latency).mean / 1e6


def _grows(measurement: Measurement) -> bool:
    """Also where answers came up to the end, but none to requests of the second half."""
    clients = measurement.clients
    first, second = _latencies(clients.first_half), _latencies(clients.second_half)
    if first.count and second.count:
        return grows(first, second)
    still_answered = clients.per_second and clients.per_second[-1]["delivered"] > 0
    return bool(still_answered and not second.count)


@lru_cache(maxsize=8)  # several rules ask
def _latencies(texts: Texts) -> Half:
    merged = undilated(texts, 1.0)
    return Half(merged.total, mean_of(merged) if merged.values else 0.0, merged.percentile)
