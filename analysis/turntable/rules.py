"""The rules of a verdict, each with its bound from the `validity` section of the experiment.

docs/experiments.md argues for the bounds. A rule sees all iterations of a cell's round at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turntable.composition import rotated_shares, unsettled_share
from turntable.expected import NoPromiseError, Share
from turntable.hits import hit_shares
from turntable.measurement import LogicalServer, Measurement
from turntable_core.checks import settling_s
from turntable_core.methods import caches, crash_of, keeps_copies, snapshot_period_s
from turntable_core.plan import Prediction

_NO_BOUND = "the plan's validity section has no bound for it"
NOT_THE_BOTTLENECK = "the servers were not the bottleneck"


@dataclass(frozen=True)
class Case:
    measurements: Sequence[Measurement]
    bounds: Mapping[str, Any]
    parameters: Mapping[str, Any]  # of the cell
    fidelity_class: str
    prediction: Prediction | None = None

    @property
    def loss_share(self) -> float:
        """Plans of before this bound existed allowed no loss."""
        return self.bounds.get("loss_share_max", 0.0)


@dataclass(frozen=True)
class Finding:
    reason: str | None = None  # the rule is broken
    not_checked: str | None = None  # in every iteration: why not


def utilization(measurement: Measurement, capacity_ops_per_s: float) -> float | None:
    """Rate of the busier server in units of its capacity; None without a capacity.

    Time in which the method itself held requests back (NetCache's value updates) is no slack.
    """
    if capacity_ops_per_s <= 0:
        return None
    return max(
        server.ops_per_s / capacity_ops_per_s + server.held_back_share
        for server in measurement.servers
    )


def latest_start_us(parameters: Mapping[str, Any]) -> float:
    """The lateness after which too little of the warm-up would be left for the loop to settle."""
    return round((parameters["warmup_s"] - settling_s(parameters)) * 1e6)


def _bottleneck(case: Case) -> Finding:
    capacity = case.parameters["capacity_ops_per_s"]
    if capacity > 0:
        low, high = case.bounds["busiest_utilization"]
        values = [utilization(measurement, capacity) for measurement in case.measurements]
        what, expected = "the busier server ran at {} of its capacity", f"{low:g} to {high:g}"
    elif case.fidelity_class == "emulated":
        return Finding(
            f"{NOT_THE_BOTTLENECK}: capacity_ops_per_s is 0, "
            "and on an emulated testbed nothing else limits a server"
        )
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


def _lost_capacity(case: Case) -> Finding:
    """Of servers that had no slack to make up for it: it explains why one was not at c."""

    def lost(measurement: Measurement) -> float | None:
        shares = [_lost_share(server, measurement.seconds) for server in measurement.servers]
        if None in shares:
            return None
        return max(
            share if _without_slack(server, share, case) else 0.0
            for server, share in zip(measurement.servers, shares, strict=True)
        )

    return _limit(
        case,
        "servers waited for a processor or their store (share of their capacity)",
        lost,
        case.bounds.get("capacity_lost_share_max"),
    )


def _lost_share(server: LogicalServer, seconds: float) -> float | None:
    if server.forgiven_us is None or server.blocked_us is None:
        return None
    return (server.forgiven_us + server.blocked_us - server.held_back_us) / 1e6 / seconds


def _without_slack(server: LogicalServer, lost_share: float, case: Case) -> bool:
    capacity = case.parameters["capacity_ops_per_s"]
    low, _ = case.bounds["busiest_utilization"]
    busy = server.ops_per_s / capacity + server.held_back_share if capacity > 0 else 0.0
    return capacity > 0 and busy + lost_share >= low


def _counters(case: Case) -> Finding:
    differing = [
        text
        for measurement in case.measurements
        for text in (*(measurement.contradictions or ()), *_differences(measurement, case))
    ]
    lacking = sum(measurement.contradictions is None for measurement in case.measurements)
    not_checked = _without_data(lacking, case)
    if not differing:
        return Finding(not_checked=not_checked)
    more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
    return Finding(f"counters do not add up: {differing[0]}{more}", not_checked)


def _differences(measurement: Measurement, case: Case) -> Iterator[str]:
    """Every request of a client passed the switch once, and every answer of a server too; what
    clients got besides, the switch itself gave. What was lost on the way, within the bound, is no
    contradiction.
    """
    served = {server.partition: server.served_total for server in measurement.servers}
    has_hits = measurement.switch_hits is not None
    for partition in measurement.partitions:
        client, switch = measurement.clients[partition], measurement.switch[partition]
        where = f"iteration {measurement.iteration}, partition {partition}"
        allowed = case.loss_share * client.requests_total
        requests, answers = client.requests_total, client.answers_total
        if abs(switch.requests - requests) > allowed:
            yield f"{where}: {switch.requests} requests in the switch, {requests} at the clients"
        too_few = not has_hits and answers - switch.answers > allowed
        if too_few or switch.answers - answers > allowed:
            yield f"{where}: {switch.answers} answers in the switch, {answers} at the clients"
        by_server = served.get(partition)
        if by_server is None:
            continue
        too_few = not has_hits and client.switch_ops == 0 and answers - by_server > allowed
        if too_few or by_server - answers > allowed:
            yield f"{where}: {by_server} answers by the server, {answers} at the clients"
    yield from _hit_differences(measurement, case)
    yield from _update_differences(measurement, case)


def _hit_differences(measurement: Measurement, case: Case) -> Iterator[str]:
    """The switch counts the answers it gives, of all partitions together."""
    if measurement.switch_hits is None:
        return
    passed = sum(counts.answers for counts in measurement.switch.values())
    at_clients = sum(client.answers_total for client in measurement.clients.values())
    given = passed + measurement.switch_hits
    if abs(given - at_clients) > case.loss_share * measurement.requests_total:
        yield (
            f"iteration {measurement.iteration}: the switch gave {measurement.switch_hits} answers "
            f"and forwarded {passed}, but the clients got {at_clients}"
        )


def _update_differences(measurement: Measurement, case: Case) -> Iterator[str]:
    """Value updates end in the switch: they are in no partition's counters, but among what became
    of packets in egress.
    """
    sent = [server.updates_sent for server in measurement.servers]
    arrived = measurement.switch_updates
    if arrived is None or all(count is None for count in sent):
        return
    total = sum(count or 0 for count in sent)
    if abs(arrived - total) > case.loss_share * measurement.requests_total:
        yield (
            f"iteration {measurement.iteration}: {arrived} value updates in the switch, "
            f"{total} sent by the servers"
        )


def _cache(case: Case) -> Finding:
    """Without admission the set of cached keys is the one that the prediction is about."""
    changed = [
        f"{measurement.iteration}"
        for measurement in case.measurements
        if measurement.cached_set and len(set(measurement.cached_set)) > 1
    ]
    if not changed or case.parameters.get("admission", False):
        return Finding()
    return Finding(f"the cached keys were not the hottest ones in iteration {', '.join(changed)}")


def _recovered(case: Case) -> Finding:
    """What only the killed switch had is at its servers, and the switch has its cache again."""
    if not crash_of(case.parameters):
        return Finding()
    wrong = [
        f"{measurement.iteration}: {text}"
        for measurement in case.measurements
        for text in _not_recovered(measurement, case.parameters["cache_size"])
    ]
    return Finding(f"not recovered after iteration {'; '.join(wrong)}" if wrong else None)


def _not_recovered(measurement: Measurement, cache_size: int) -> Iterator[str]:
    recovery = measurement.recovery
    if recovery is None:
        yield "there is no answer of `recover`"
        return
    if recovery.missed:
        yield f"{recovery.missed} records at clients were still newer than the servers'"
    if recovery.restored != cache_size:
        yield f"the switch got {recovery.restored} of {cache_size} keys"
    if measurement.cached_set and {*recovery.digests} != {measurement.cached_set[0]}:
        yield "the switch got other keys than it had"


def _snapshots(case: Case) -> Finding:
    """Each window paid for at least one snapshot: a window without one flatters the method."""
    if not snapshot_period_s(case.parameters):
        return Finding()
    begin = case.parameters["warmup_s"]
    end = begin + case.parameters["measure_s"]
    without = [
        str(measurement.iteration)
        for measurement in case.measurements
        if not any(begin <= first and last <= end for first, last in measurement.snapshots or ())
    ]
    if not without:
        return Finding()
    return Finding(f"no complete snapshot in the window of iteration {', '.join(without)}")


def _copies(case: Case) -> Finding:
    """A write that only the switch has is safe because its client keeps a copy of it."""
    dropped = [
        f"{measurement.copies_dropped} in iteration {measurement.iteration}"
        for measurement in case.measurements
        if measurement.copies_dropped
    ]
    lacking = sum(measurement.copies_dropped is None for measurement in case.measurements)
    not_checked = _without_data(lacking, case) if keeps_copies(case.parameters) else None
    if not dropped:
        return Finding(not_checked=not_checked)
    return Finding(
        f"clients dropped copies for want of room ({', '.join(dropped)}): a crash of the switch "
        "would have lost those writes"
    )


def _hits(case: Case) -> Finding:
    """The switch answered as many requests as its cached keys promise: servers run at their
    capacity with a cache that answers nothing, too.
    """
    if not caches(case.parameters):
        return Finding()
    return _shares(
        case,
        hit_shares,
        case.bounds.get("hit_share_errors_max"),
        "the switch answered {} of the requests in iteration {}, but its cached keys promise {}",
    )


def _composition(case: Case) -> Finding:
    """Both partitions of an iteration got their shares: utilization does not tell."""
    return _shares(
        case,
        rotated_shares,
        case.bounds.get("composition_errors_max"),
        "{} of what servers answered in iteration {} was the rotated partition's, but the traces "
        "promise {}",
    )


def _shares(
    case: Case,
    shares_of: Callable[..., list[Share]],
    most: float | None,
    what: str,  # with places for what was measured, the iteration, what is expected
) -> Finding:
    try:
        shares = _promised(case, most, shares_of)
    except NoPromiseError as why:
        return Finding(not_checked=str(why))
    apart = [share for share in shares if share.errors > most]
    if not apart:
        return Finding()
    worst = max(apart, key=lambda share: share.errors)
    text = what.format(f"{worst.measured:.2%}", worst.iteration, f"{worst.expected:.2%}")
    return Finding(
        f"{text}: apart by {worst.errors:.0f} standard errors of this window (at most {most:g}), "
        f"in {len(apart)} of {len(shares)} iterations by more than that"
    )


def _promised(case: Case, most: float | None, promise: Callable[..., Any]) -> Any:
    if most is None:
        raise NoPromiseError(_NO_BOUND)
    if case.prediction is None:
        raise NoPromiseError("the turn has no prediction")
    return promise(case.measurements, case.prediction, case.parameters)


def _settled(case: Case) -> Finding:
    """The queues of the beginning were gone before they could change the result."""
    most = case.bounds.get("unsettled_share_max")
    try:
        share = _promised(case, most, unsettled_share)
    except NoPromiseError as why:
        return Finding(not_checked=str(why))
    if share <= most:
        return Finding()
    return Finding(
        "the closed loop had not settled when the window began: queues of the beginning change "
        f"normalized throughput by {share:.1%} (at most {most:.1%}); warm up for longer, or take "
        "fewer clients"
    )


def _rates(case: Case) -> Finding:
    """Clients and servers count the same window at their own ends."""

    def difference(measurement: Measurement) -> float:
        unit = measurement.busier.ops_per_s or 1.0
        return max(
            abs(measurement.rates(server.partition).server - server.ops_per_s) / unit
            for server in measurement.servers
        )

    return _limit(
        case,
        "clients and servers disagree on the rate (share of the busier server's)",
        difference,
        case.bounds.get("rate_difference_max"),
    )


def _errors(case: Case) -> Finding:
    counts: dict[str, int] = {}
    for measurement in case.measurements:
        for name, count in measurement.errors.items():
            counts[name] = counts.get(name, 0) + count
    if not counts:
        return Finding()
    listed = ", ".join(f"{name} {n}" for name, n in counts.items())
    return Finding(f"errors were counted: {listed}")


def _losses(what: str, count: Callable[[Measurement], int | None]) -> Callable[[Case], Finding]:
    """Packets, as a share of the iteration's requests."""

    def share(measurement: Measurement) -> float | None:
        lost = count(measurement)
        return None if lost is None else lost / max(measurement.requests_total, 1)

    return lambda case: _limit(case, f"{what} (share of requests)", share, case.loss_share)


def _socket_drops(measurement: Measurement) -> int:
    return measurement.client_socket_drops + sum(
        server.socket_drops for server in measurement.servers
    )


def _switch_drops(case: Case) -> Finding:
    def drops(measurement: Measurement) -> int | None:
        by_reason = measurement.switch_drops
        return None if by_reason is None else sum(by_reason.values())

    reasons = {name for m in case.measurements for name in m.switch_drops or {}}
    return _losses(f"the switch dropped packets, {', '.join(sorted(reasons))}", drops)(case)


def _nic_drops(measurement: Measurement) -> int | None:
    hosts = measurement.hosts
    return None if hosts is None else sum(host.nic_drops for host in hosts)


def _start(case: Case) -> Finding:
    return _limit(
        case,
        "clients started late (µs)",
        lambda measurement: measurement.start_lateness_us,
        latest_start_us(case.parameters),
    )


def _end(case: Case) -> Finding:
    def share(measurement: Measurement) -> float | None:
        late_us = measurement.end_lateness_us
        return None if late_us is None else late_us / 1e6 / measurement.seconds

    return _limit(
        case,
        "clients closed the window late (share of the window)",
        share,
        case.bounds.get("late_share_max"),
    )


def _steal(case: Case) -> Finding:
    def steal(measurement: Measurement) -> float | None:
        hosts = measurement.hosts
        return None if hosts is None else max(host.steal_share for host in hosts)

    return _limit(
        case,
        "processors of a host were stolen (share of their time)",
        steal,
        case.bounds.get("steal_share_max"),
    )


def _stall(who: str, late_us: Callable[[Measurement], float | None]) -> Callable[[Case], Finding]:
    """A stall costs nothing while the queues at the servers last, and they hold nearly all clients.
    Half of that is forgiven; the rest may have idled the servers.
    """

    def rule(case: Case) -> Finding:
        def cost(measurement: Measurement) -> float | None:
            late = late_us(measurement)
            if late is None:
                return None
            rate = measurement.busier.ops_per_s
            queue_s = case.parameters["clients"] / rate if rate else 0.0
            return max(0.0, late / 1e6 - queue_s / 2) / measurement.seconds

        return _limit(
            case,
            f"{who} stalled for longer than the queues last (share of the window)",
            cost,
            case.bounds.get("late_share_max"),
        )

    return rule


def _starved(
    who: str, wait_share: Callable[[Measurement], float | None]
) -> Callable[[Case], Finding]:
    return lambda case: _limit(
        case,
        f"{who} waited for a processor (share of the time)",
        wait_share,
        case.bounds.get("wait_share_max"),
    )


def _limit(
    case: Case,
    what: str,
    value: Callable[[Measurement], float | None],
    most: float | None,
) -> Finding:
    if most is None:
        return Finding(not_checked=_NO_BOUND)
    values = [value(measurement) for measurement in case.measurements]
    known = [value for value in values if value is not None]
    above = [value for value in known if value > most]
    not_checked = _without_data(len(values) - len(known), case)
    if not above:
        return Finding(not_checked=not_checked)
    where = f"in {len(above)} of {len(values)} iterations"
    return Finding(
        f"{what}: up to {_short(max(above))} {where} (at most {_short(most)})", not_checked
    )


def _without_data(lacking: int, case: Case) -> str | None:
    """Raw files of an older version, or of a kernel that does not count."""
    if lacking == 0:
        return None
    return f"no data in the raw files of {lacking} of {len(case.measurements)} iterations"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


# In the order in which reasons are given: what is wrong first, what may explain it after.
RULES: Mapping[str, Callable[[Case], Finding]] = {
    "bottleneck": _bottleneck,
    "lost capacity": _lost_capacity,
    "counters": _counters,
    "cached keys": _cache,
    "hit share": _hits,
    "composition": _composition,
    "settled": _settled,
    "recovery": _recovered,
    "copies": _copies,
    "snapshots": _snapshots,
    "rates": _rates,
    "errors": _errors,
    "retries": _losses("requests were sent again", lambda m: m.retries),
    "unanswered": _losses("requests stayed unanswered", lambda m: m.unanswered),
    "socket drops": _losses("sockets dropped packets", _socket_drops),
    "switch drops": _switch_drops,
    "NIC drops": _losses("network interfaces dropped packets", _nic_drops),
    "late start": _start,
    "late end": _end,
    "steal": _steal,
    "switch stalls": _stall("the switch", lambda m: m.switch_thread.late_max_us),
    "client stalls": _stall("clients", lambda m: m.client_threads.late_max_us),
    "switch starved": _starved("the switch", lambda m: m.switch_thread.wait_share),
    "clients starved": _starved("clients", lambda m: m.client_threads.wait_share),
}
