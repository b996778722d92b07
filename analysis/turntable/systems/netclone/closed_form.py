"""What queueing theory says of NoClone without jitter: each server gets a random part of Poisson
arrivals and has W exponential workers and a FIFO, so it is an M/M/W queue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from turntable_systems.netclone import offered_load, service

COLUMNS = {"closed_form_p50_us": 0.5, "closed_form_p99_us": 0.99, "closed_form_p999_us": 0.999}


def percentiles(parameters: Mapping[str, Any]) -> dict[str, float | None]:
    """Of the latency without any delay of a path; None where the theory does not hold."""
    load = offered_load.load(parameters)
    if not _applies(parameters) or load >= 1:
        return dict.fromkeys(COLUMNS)
    mean_us, workers = service.mean_us(parameters), parameters["workers"]
    beyond = share_beyond(workers, load)
    return {
        name: mean_us * _solve(lambda t, share=share: beyond(t) - (1 - share))
        for name, share in COLUMNS.items()
    }


def _applies(parameters: Mapping[str, Any]) -> bool:
    spec = service.spec_of(parameters)
    return (
        parameters["method"] == "noclone"
        and parameters["jitter_probability"] == 0
        and spec["distribution"] == "exponential"
        and parameters["arrivals"] == "exponential"
        and not parameters.get("unequal_workers")
    )


def share_beyond(workers: int, load: float) -> Callable[[float], float]:
    """P(latency > t) of M/M/W, t in mean service times (Kleinrock, Queueing Systems I)."""
    wait, rate = erlang_c(workers, load), workers * (1 - load)  # of waiting, while one waits

    def beyond(t: float) -> float:
        if math.isclose(rate, 1):
            return math.exp(-t) * (1 + wait * t)
        waited = (math.exp(-t) * rate - math.exp(-rate * t)) / (rate - 1)
        return (1 - wait) * math.exp(-t) + wait * waited

    return beyond


def erlang_c(workers: int, load: float) -> float:
    """The share of requests that wait."""
    offered = workers * load
    blocked = 1.0  # Erlang's B, worker by worker
    for count in range(1, workers + 1):
        blocked = offered * blocked / (count + offered * blocked)
    return blocked / (1 - load * (1 - blocked))


def _solve(decreasing: Callable[[float], float]) -> float:
    """Where it is 0."""
    low, high = 0.0, 1.0
    while decreasing(high) > 0:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if decreasing(middle) > 0 else (low, middle)
    return high
