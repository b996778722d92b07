"""Were the servers the bottleneck, each at its capacity?"""

from __future__ import annotations

from collections.abc import Sequence

from turntable.rules import limit
from turntable.systems.farreach.measurement import LogicalServer, Measurement
from turntable.verdict import Case, Finding
from turntable_systems.farreach.methods import answers_everything

NOT_THE_BOTTLENECK = "the servers were not the bottleneck"


def utilization(measurement: Measurement, capacity_ops_per_s: float) -> float | None:
    """Rate of the busier server in units of its capacity; None without a capacity.

    Time in which the method itself held requests back (NetCache's value updates) is no slack.
    """
    if capacity_ops_per_s <= 0:
        return None
    busiest = measurement.busiest_ops_per_s / capacity_ops_per_s
    return max(
        busiest + measurement.busier.held_back_share,
        *(
            server.ops_per_s / capacity_ops_per_s + server.held_back_share
            for server in measurement.servers
        ),
    )


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


def limited(case: Case) -> Finding:
    """There is something that can make a server the bottleneck: of the run, not of its machine."""
    capacity = case.parameters["capacity_ops_per_s"]
    if capacity > 0 or answers_everything(case.parameters) or case.fidelity_class != "emulated":
        return Finding()
    if any(measurement.imported for measurement in case.measurements):
        return Finding()  # nobody has said what limited its servers
    return Finding(
        f"{NOT_THE_BOTTLENECK}: capacity_ops_per_s is 0, "
        "and on an emulated testbed nothing else limits a server"
    )


def bottleneck(case: Case) -> Finding:
    capacity = case.parameters["capacity_ops_per_s"]
    if capacity > 0:
        low, high = case.bounds["busiest_utilization"]
        values = [utilization(measurement, capacity) for measurement in case.measurements]
        what, expected = "the busier server ran at {} of its capacity", f"{low:g} to {high:g}"
    elif answers_everything(case.parameters):
        return Finding()  # and is the bottleneck; that it does, the rule "hit share" sees
    elif case.fidelity_class == "emulated":
        return Finding()  # `limited` says it
    else:
        low, high = case.bounds["busy_share_min"], float("inf")
        values = [measurement.busier.busy_share for measurement in case.measurements]
        what, expected = "the busier server was busy for {} of the time", f"at least {low:g}"
    outside = [value for value in values if not low <= value <= high]
    if not outside:
        return Finding()
    low, high = min(outside), max(outside)
    span = f"{low:.3f}" if len(outside) == 1 else f"{low:.3f} to {high:.3f}"
    where = f"in {len(outside)} of {len(values)} iterations (expected {expected})"
    return Finding(f"{NOT_THE_BOTTLENECK}: {what.format(span)} {where}")


def lost_capacity(case: Case) -> Finding:
    """Of servers that had no slack to make up for it: it explains why one was not at c."""

    def lost(measurement: Measurement) -> float | None:
        shares = [lost_share(server, measurement.seconds) for server in measurement.servers]
        if None in shares:
            return None
        return max(
            share if _without_slack(server, share, case) else 0.0
            for server, share in zip(measurement.servers, shares, strict=True)
        )

    return limit(
        case,
        "servers waited for a processor or their store (share of their capacity)",
        lost,
        case.bounds.get("capacity_lost_share_max"),
    )


def lost_share(server: LogicalServer, seconds: float) -> float | None:
    if server.forgiven_us is None or server.blocked_us is None:
        return None
    return (server.forgiven_us + server.blocked_us - server.held_back_us) / 1e6 / seconds


def _without_slack(server: LogicalServer, lost_share: float, case: Case) -> bool:
    capacity = case.parameters["capacity_ops_per_s"]
    low, _ = case.bounds["busiest_utilization"]
    busy = server.ops_per_s / capacity + server.held_back_share if capacity > 0 else 0.0
    return capacity > 0 and busy + lost_share >= low
