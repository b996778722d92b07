"""What an open loop offers: requests per second of a cell, and of each of its iterations
(docs/farreach.md, Latency at target throughputs).

The rates of a plan follow from the traces alone, never from a measurement: a run that is continued,
or measured again, offers what it offered before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean
from typing import Any

from turntable_core.errors import TurntableError
from turntable_core.plan import Iteration
from turntable_systems.farreach.prediction import Prediction, WriteThrough
from turntable_systems.farreach.rotation import partitions_of

Parameters = Mapping[str, Any]
_Rates = tuple[float, float, float, float]  # of a placement, as WriteThrough has them

_RATE = "offered_ops_per_s"  # of an iteration's data
# Of an iteration; load/open_loop.h.
LEAST_REQUESTS, MOST_REQUESTS = 100, 100_000_000

# Parameters that say nothing where loops are closed. Nor do `arrivals` and the like, but a cell
# beside open loops keeps what is the same in both: it would be named as what tells them apart.
OF_OPEN_LOOPS = frozenset({"target_share", "target_ops_per_s", "maximum_ops_per_s"})


def is_open(parameters: Parameters) -> bool:
    """Whether requests leave at instants of their own, instead of one after the other's answer."""
    return bool(parameters.get("target_share") or parameters.get("target_ops_per_s"))


def meaningless(parameters: Parameters) -> frozenset[str]:
    """Names of parameters that say nothing about such a cell: 0 is no target."""
    if not is_open(parameters):
        return OF_OPEN_LOOPS
    targets = ("target_share", "target_ops_per_s")
    return frozenset(name for name in targets if not parameters.get(name))


def backlog_s(parameters: Parameters) -> float:
    """What the busiest server still has to do when a window ends that offered it more than it can
    answer. Unknown, and 0, with absolute targets: their maximum is not among the parameters.
    """
    excess = max(0.0, parameters.get("target_share", 0) - 1)
    return excess * (parameters.get("warmup_s", 0) + parameters["measure_s"])


def target_ops_per_s(parameters: Parameters, prediction: Prediction) -> float:
    """Of all servers together."""
    absolute = parameters.get("target_ops_per_s", 0)
    return absolute or parameters["target_share"] * maximum_ops_per_s(parameters, prediction)


def maximum_ops_per_s(parameters: Parameters, prediction: Prediction) -> float:
    """What all servers together reach in closed loops: given, or that of the traces."""
    given = parameters.get("maximum_ops_per_s", 0)
    return given or parameters["capacity_ops_per_s"] * maximum_units(parameters, prediction)


def maximum_units(parameters: Parameters, prediction: Prediction) -> float:
    """In units of one server's capacity."""
    if prediction.write_through:
        delay_s = parameters.get("value_update_delay_us", 0) / 1e6
        update = delay_s * parameters["capacity_ops_per_s"]
        return _of_placements(_at(prediction.write_through, update))
    return prediction.trace.normalized or 0.0


def offered_ops_per_s(
    parameters: Parameters, prediction: Prediction, partitions: Sequence[int]
) -> float:
    """Of an iteration with these partitions: their part of what all are offered."""
    share = sum(prediction.requests[partition] for partition in partitions)
    return target_ops_per_s(parameters, prediction) * share


def with_rates(
    iterations: Sequence[Iteration], parameters: Parameters, prediction: Prediction
) -> tuple[Iteration, ...]:
    """Plans the rates of an open loop. Raises TurntableError for those that cannot be measured."""
    if not is_open(parameters):
        return tuple(iterations)
    if target_ops_per_s(parameters, prediction) == 0:
        raise TurntableError(
            f"target_share: {parameters['target_share']:g} of no maximum: the switch answers all "
            f"requests of {parameters['workload']}, so no server limits {parameters['method']}; "
            "expected a target in ops/s (-e target_share=0 -e target_ops_per_s=…), or what it is "
            "a share of (-e maximum_ops_per_s=…)"
        )
    rates = [offered_ops_per_s(parameters, prediction, partitions_of(i)) for i in iterations]
    _check(rates, parameters)
    return tuple(
        replace(iteration, data={**iteration.data, _RATE: rate})
        for iteration, rate in zip(iterations, rates, strict=True)
    )


def _check(rates: Sequence[float], parameters: Parameters) -> None:
    """Of the iterations of a turn."""
    window_s = parameters["measure_s"]
    least = min(rates) * window_s
    most = max(rates) * (parameters["warmup_s"] + window_s)
    if least >= LEAST_REQUESTS and most <= MOST_REQUESTS:
        return
    names = ("target_share", "target_ops_per_s")
    given = next(name for name in reversed(names) if parameters.get(name))
    raise TurntableError(
        f"{given}: {parameters[given]:g} gives iterations from {least:,.4g} requests in their "
        f"window to {most:,.4g} with the warm-up; expected from {LEAST_REQUESTS:,} to "
        f"{MOST_REQUESTS:,}, all of which clients draw before they begin: another target, or "
        "-e measure_s=…"
    )


def planned_ops_per_s(iteration: Iteration) -> float:
    """Of an open loop."""
    return iteration.data[_RATE]


def server_load(parameters: Parameters, prediction: Prediction, partition: int) -> float | None:
    """Of a partition's server, as a share of its capacity. None: it has none, or what reaches the
    servers depends on how long writes wait (write-through caches).
    """
    capacity = parameters["capacity_ops_per_s"]
    if capacity == 0 or prediction.write_through:
        return None
    target = target_ops_per_s(parameters, prediction)
    return target * prediction.trace.shares[partition] / capacity


def _at(parts: Sequence[WriteThrough], update_round_trip: float) -> list[_Rates]:
    """The placements for this u c; for a longer one than was asked, those of the longest."""
    for low, high in pairwise(parts):
        if update_round_trip <= high.update_round_trip:
            span = high.update_round_trip - low.update_round_trip
            share = (update_round_trip - low.update_round_trip) / span
            return [
                tuple(a + share * (b - a) for a, b in zip(*both, strict=True))
                for both in zip(low.placements, high.placements, strict=True)
            ]
    return list(parts[-1].placements)


def _of_placements(placements: Sequence[_Rates]) -> float:
    """As `absolute` of the results (docs/farreach.md, Absolute throughput)."""
    mean_all = fmean(switch + server for switch, server, _, _ in placements)
    mean_server = fmean(server for _, server, _, _ in placements)
    total, busiest = mean_all, mean_server
    for switch, server, rotated_switch, rotated_server in placements[1:]:
        total += (rotated_switch + rotated_server) * mean_all / (switch + server)
        busiest = max(busiest, rotated_server * mean_server / server)
    saturated = fmean(max(server, rotated) for _, server, _, rotated in placements)
    return total * saturated / busiest
