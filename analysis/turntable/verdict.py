"""May the numbers be believed? A verdict per cell and round, apart from the numbers themselves.

Normalized throughput follows from the traces alone in a closed loop, so it cannot show that a run
went wrong. These rules can: each looks at every iteration, and a broken rule is one reason that
says how far off how many iterations were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turntable.measurement import Measurement
from turntable_core.checks import settling_s

NOT_THE_BOTTLENECK = "the servers were not the bottleneck"


@dataclass(frozen=True)
class Verdict:
    reasons: tuple[str, ...]

    @property
    def valid(self) -> bool:
        return not self.reasons

    def __str__(self) -> str:
        return "valid" if self.valid else "invalid: " + "; ".join(self.reasons)


def judge(
    measurements: Sequence[Measurement],
    expected_iterations: int,
    rules: Mapping[str, Any],
    parameters: Mapping[str, Any],
    fidelity_class: str,
) -> Verdict:
    """rules: the `validity` section of the experiment; parameters: of the cell."""
    capacity_ops_per_s = parameters["capacity_ops_per_s"]
    reasons = [
        _missing(measurements, expected_iterations),
        _bottleneck(measurements, rules, capacity_ops_per_s, fidelity_class),
        _counters(measurements),
        _errors(measurements),
        _limit(measurements, "requests were sent again", lambda m: m.retries, rules["retries_max"]),
        _limit(measurements, "sockets dropped packets", _socket_drops, rules["socket_drops_max"]),
        _limit(
            measurements,
            "clients started late (µs)",
            lambda m: m.start_lateness_us,
            latest_start_us(parameters),
        ),
    ]
    return Verdict(tuple(reason for reason in reasons if reason))


def latest_start_us(parameters: Mapping[str, Any]) -> float:
    """The lateness after which too little of the warm-up would be left for the loop to settle."""
    return round((parameters["warmup_s"] - settling_s(parameters)) * 1e6)


def utilization(measurement: Measurement, capacity_ops_per_s: float) -> float | None:
    """Rate of the busier server in units of its capacity; None without a capacity."""
    return measurement.busier.ops_per_s / capacity_ops_per_s if capacity_ops_per_s > 0 else None


def worst_utilization(
    measurements: Sequence[Measurement], capacity_ops_per_s: float
) -> float | None:
    """The iteration's utilization that is farthest from 1."""
    values = [utilization(measurement, capacity_ops_per_s) for measurement in measurements]
    return max(
        (value for value in values if value is not None),
        key=lambda value: abs(value - 1),
        default=None,
    )


def _missing(measurements: Sequence[Measurement], expected: int) -> str | None:
    absent = expected - len(measurements)
    return f"{absent} of {expected} iterations are missing" if absent else None


def _bottleneck(
    measurements: Sequence[Measurement],
    rules: Mapping[str, Any],
    capacity_ops_per_s: float,
    fidelity_class: str,
) -> str | None:
    if capacity_ops_per_s > 0:
        low, high = rules["busiest_utilization"]
        values = [utilization(measurement, capacity_ops_per_s) for measurement in measurements]
        what, expected = "the busier server ran at {} of its capacity", f"{low:g} to {high:g}"
    elif fidelity_class == "emulated":
        return (
            f"{NOT_THE_BOTTLENECK}: capacity_ops_per_s is 0, "
            "and on an emulated testbed nothing else limits a server"
        )
    else:
        low, high = rules["busy_share_min"], float("inf")
        values = [measurement.busier.busy_share for measurement in measurements]
        what, expected = "the busier server was busy for {} of the time", f"at least {low:g}"
    outside = [value for value in values if not low <= value <= high]
    if not outside:
        return None
    low, high = min(outside), max(outside)
    span = f"{low:.3f}" if len(outside) == 1 else f"{low:.3f} to {high:.3f}"
    where = f"in {len(outside)} of {len(values)} iterations (expected {expected})"
    return f"{NOT_THE_BOTTLENECK}: {what.format(span)} {where}"


def _counters(measurements: Sequence[Measurement]) -> str | None:
    """Every request a client sent passed the switch once, and every answer it got."""
    differing = []
    for measurement in measurements:
        for partition in measurement.partitions:
            client, switch = measurement.clients[partition], measurement.switch[partition]
            pairs = (
                ("requests", client.requests_total, switch.requests),
                ("answers", client.answers_total, switch.answers),
            )
            differing += [
                f"iteration {measurement.iteration}, partition {partition}: "
                f"{by_switch} {kind} in the switch, {by_clients} at the clients"
                for kind, by_clients, by_switch in pairs
                if by_clients != by_switch
            ]
    if not differing:
        return None
    more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
    return f"counters do not add up: {differing[0]}{more}"


def _errors(measurements: Sequence[Measurement]) -> str | None:
    counts: dict[str, int] = {}
    for measurement in measurements:
        for name, count in measurement.errors.items():
            counts[name] = counts.get(name, 0) + count
    if not counts:
        return None
    return "errors were counted: " + ", ".join(f"{name} {n}" for name, n in counts.items())


def _limit(
    measurements: Sequence[Measurement],
    what: str,
    count: Callable[[Measurement], float],
    most: float,
) -> str | None:
    above = [count(measurement) for measurement in measurements if count(measurement) > most]
    if not above:
        return None
    where = f"in {len(above)} of {len(measurements)} iterations"
    return f"{what}: up to {max(above):g} {where} (at most {most:g})"


def _socket_drops(measurement: Measurement) -> int:
    return measurement.client_socket_drops + sum(
        server.socket_drops for server in measurement.servers
    )
