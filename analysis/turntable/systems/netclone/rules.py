"""May the numbers be believed?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt

from turntable import rules
from turntable.systems.netclone import counters
from turntable.systems.netclone.measurement import Measurement, Server
from turntable.systems.netclone.saturation import is_saturated
from turntable.systems.netclone.times import share_above, undilated
from turntable.verdict import Case, Finding, Rule
from turntable_systems.netclone import service


def _lost(case: Case) -> Finding:
    """Open loops send nothing again. Where the system is saturated, what is lost is a part of the
    result: the queues are as long as sockets allow.
    """

    def share(measurement: Measurement) -> float | None:
        if is_saturated(measurement):
            return 0.0
        return measurement.clients.lost / max(measurement.clients.offered, 1)

    return rules.limit(case, "requests were lost (share of those offered)", share, case.loss_share)


def _withheld(case: Case) -> Finding:
    """Then the loop is not open any more, and no simulation knows of the limit."""

    def share(measurement: Measurement) -> float | None:
        if is_saturated(measurement):
            return 0.0
        return measurement.clients.withheld / max(measurement.clients.offered, 1)

    what = "requests were withheld by outstanding_max (share of those offered)"
    return rules.limit(case, what, share, _TOUCHED_SHARE)


def _clamped(case: Case) -> Finding:
    """Percentiles and means know nothing of how long they were."""

    def share(measurement: Measurement) -> float | None:
        if is_saturated(measurement):
            return 0.0
        return measurement.clients.clamped / max(measurement.clients.offered, 1)

    return rules.limit(case, "latencies above 60 s count as 60 s (share of requests)", share, 0.0)


def _in_mean_services(case: Case) -> float:
    """Seconds on the testbed's clock."""
    return service.mean_us(case.parameters) * case.parameters["dilation"] / 1e6


def _sent_late(case: Case) -> Finding:
    mean_s = _in_mean_services(case)

    def share(measurement: Measurement) -> float | None:
        late_us = undilated(measurement.clients.send_late, 1.0).percentile(99)
        return None if late_us is None else late_us / 1e6 / mean_s

    return rules.limit(
        case,
        "requests were sent late (99th percentile, in mean service times)",
        share,
        case.bounds.get("send_late_share_max"),
    )


def _work_error(case: Case) -> Finding:
    mean_s = _in_mean_services(case)
    return rules.limit(
        case,
        "slots were held for another time than was drawn (mean error, in mean service times)",
        _worst_of_servers(lambda server: abs(server.work_error_s) / mean_s),
        case.bounds.get("work_error_share_max"),
    )


def _slots(case: Case) -> Finding:
    """Work that was drawn is done by slots, neither more nor less of it; what a late server cannot
    catch up with is missing as if there were more work.
    """

    def difference(server: Server) -> float:
        taken_s = server.busy_s + server.lost_s
        if server.planned_s == 0:
            return 0.0 if taken_s == 0 else 1.0
        return abs(taken_s / server.planned_s - 1)

    return rules.limit(
        case,
        "slots were busy for another time than their work takes (share of it)",
        _worst_of_servers(difference),
        case.bounds.get("slots_busy_difference_max"),
    )


def _worst_of_servers(
    value: Callable[[Server], float],
) -> Callable[[Measurement], float | None]:
    return lambda measurement: max((value(server) for server in measurement.servers), default=None)


def _counters(case: Case) -> Finding:
    """Clients, switch, coordinator and servers have counted the same packets."""
    if _started_again(case):
        return Finding(not_checked="nodes were started again, and count from then on")
    worst: dict[str, float] = {}
    for measurement in case.measurements:
        saturated = is_saturated(measurement)
        for text, difference, allowed in counters.differences(measurement, saturated):
            beyond = max(0, abs(difference) - allowed)
            share = beyond / max(measurement.requests_total, 1)
            worst[text] = max(worst.get(text, 0.0), share)
    most = case.bounds.get("counter_share_max")
    if most is None:
        return Finding(not_checked=rules.NO_BOUND)
    above = [f"{text}: {share:.3g}" for text, share in worst.items() if share > most]
    if not above:
        return Finding()
    listed = "; ".join(above)
    return Finding(f"counters differ (share of the requests, at most {most:g}): {listed}")


def _started_again(case: Case) -> bool:
    return any(event.starts_nodes for m in case.measurements for event in m.events)


def _unknown(case: Case) -> Finding:
    if _started_again(case):
        return Finding(not_checked="a switch that was started again knows nothing at first")

    def share(measurement: Measurement) -> float:
        unknown = measurement.switch.unknown if measurement.switch else 0
        return unknown / max(measurement.requests_total, 1)

    return rules.limit(
        case,
        "the switch dropped packets that it does not know (share of requests)",
        share,
        case.bounds.get("counter_share_max"),
    )


def _socket_drops(case: Case) -> Finding:
    """Where queues grow without end, sockets overflow: that is saturation, not a fault."""

    def drops(measurement: Measurement) -> int:
        if is_saturated(measurement):
            return 0
        coordinators = [measurement.coordinator] if measurement.coordinator else []
        nodes = (measurement.clients, *measurement.servers, *coordinators)
        return sum(node.socket_drops for node in nodes)

    return rules.losses("sockets dropped packets", drops)(case)


def _switch_stalls(case: Case) -> Finding:
    """What waits for the switch is late by so much. Of a long window that is too little to matter:
    p99 is that of 1 % of the requests.
    """
    mean_us = _in_mean_services(case) * 1e6

    def stall(measurement: Measurement) -> float | None:
        late_us = measurement.switch_thread.late_max_us
        if late_us is None:
            return None
        return late_us / mean_us if late_us / 1e6 > _STALL_SHARE * measurement.seconds else 0.0

    return rules.limit(
        case,
        "the switch stood still (in mean service times)",
        stall,
        case.bounds.get("switch_stall_services_max"),
    )


def _stalls(case: Case) -> Finding:
    """All stalls of the window together, however short each: what p99 is made of is 1 % of the
    requests, and a tenth of it may be of the machine's making. Of saturated cells latency is no
    result, and what they deliver is less by no more than these shares.
    """
    service_us = _in_mean_services(case) * 1e6

    # p99 of n requests is known to three standard errors of the 0.01 n above it, no better.
    offered = min((m.clients.offered for m in case.measurements), default=0)
    return rules.limit(
        case,
        "the machine held requests up (share late by a mean service time, or slot time lost)",
        lambda measurement: _touched(measurement, service_us),
        max(_TOUCHED_SHARE, 0.3 / sqrt(max(offered, 1))),
    )


def _touched(measurement: Measurement, service_us: float) -> float:
    if is_saturated(measurement):
        return 0.0
    servers = measurement.servers
    slot_time_s = sum(server.slots for server in servers) * measurement.seconds
    return max(
        share_above(undilated(measurement.clients.send_late, 1.0), service_us),
        share_above(undilated((server.work_error for server in servers), 1.0), service_us),
        sum(server.lost_s for server in servers) / slot_time_s if slot_time_s else 0.0,
    )


def _coordinator_wait(measurement: Measurement) -> float | None:
    return measurement.coordinator.wait_share if measurement.coordinator else 0.0


_STALL_SHARE = 0.001  # of the window
_TOUCHED_SHARE = 0.001  # of the requests: a tenth of those above p99

# In the order in which reasons are given: what is wrong first, what may explain it after.
RULES: Mapping[str, Rule] = {
    "loss": _lost,
    "errors": rules.errors,
    "counters": _counters,
    "unknown packets": _unknown,
    "slots": _slots,
    "work": _work_error,
    "sent late": _sent_late,
    "socket drops": _socket_drops,
    "switch drops": rules.switch_drops,
    "NIC drops": rules.nic_drops,
    "withheld": _withheld,
    "clamped": _clamped,
    "late start": rules.late_start_of_warm_up,
    "late end": rules.late_end,
    "clients starved": rules.starved("a client", lambda m: m.client_threads.wait_share),
    "coordinator starved": rules.starved("the coordinator", _coordinator_wait),
    "switch starved": rules.switch_starved,
    "switch stalls": rules.of_switch_thread(_switch_stalls),
    "stalls": _stalls,
    "steal": rules.steal,
}

# The ones that blame the machine.
MACHINE_RULES = rules.OF_MACHINE | {"sent late", "work", "slots", "stalls", "coordinator starved"}
