"""What queueing theory says of a server with Poisson arrivals and constant service times, M/D/1."""

from __future__ import annotations


def mean_wait_s(load: float, capacity_ops_per_s: float) -> float | None:
    """Before the service begins (Pollaczek and Khinchine): load / (2 c (1 - load)).

    None where the queue grows without end.
    """
    if load >= 1:
        return None
    return load / (2 * capacity_ops_per_s * (1 - load))
