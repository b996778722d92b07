"""May the numbers be believed?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean

from turntable import rules
from turntable.histograms import merge
from turntable.systems.homa.measurement import TENTHS, Links, Measurement
from turntable.systems.homa.saturation import is_saturated
from turntable.verdict import Case, Finding, Rule
from turntable_systems.homa import links, methods, sizes


def _unless_saturated(
    case: Case, value: Callable[[Measurement], float | None]
) -> Callable[[Measurement], float | None]:
    """Of a saturated cell it is a part of the result."""
    return lambda one: 0.0 if is_saturated(one, case.parameters) else value(one)


def _aborted(case: Case) -> Finding:
    counted = _unless_saturated(case, lambda m: m.clients.aborted)
    return rules.limit(case, "calls were aborted", counted, 0)


def _unanswered(case: Case) -> Finding:
    counted = _unless_saturated(case, lambda m: m.clients.unanswered)
    return rules.limit(case, "calls had no answer when the drain ended", counted, 0)


def _servers(case: Case) -> Finding:
    """Clients choose servers at random, so that all do about as much."""

    def missing(measurement: Measurement) -> float:
        mean = fmean(measurement.echoed_bytes)
        return 1 - min(measurement.echoed_bytes) / mean if mean else 1.0

    return rules.limit(
        case,
        "a server answered with less than the mean of all (share)",
        missing,
        case.bounds.get("server_shortfall_max"),
    )


def _offered(case: Case) -> Finding:
    """Clients and simulation draw the same calls."""
    differences = [m.clients.calls - case.prediction.calls for m in case.measurements]
    worst = max(differences, key=abs, default=0)
    if worst == 0:
        return Finding()
    return Finding(f"{worst:+d} calls arrived beside those planned ({case.prediction.calls:,})")


def _delivered(case: Case) -> Finding:
    """Of a short window less is delivered than offered, since long messages are under way when it
    ends; the simulation of the same calls knows how much. Nothing does so for TCP.
    """
    if methods.has_tcp(case.parameters):
        return Finding(not_checked="nothing predicts what TCP delivers")

    def missing(measurement: Measurement) -> float:
        clients = measurement.clients
        share = clients.answered_bytes / max(clients.offered_bytes, 1)
        return min(case.prediction.delivered_share, 1.0) - share

    return rules.limit(
        case,
        "less of the offered payload was delivered than in the simulation (share)",
        _unless_saturated(case, missing),
        case.bounds.get("delivered_share_difference_max"),
    )


def _samples(case: Case) -> Finding:
    """Calls of each tenth of the sizes: one percent of fewer is no percentile. Of one size all are
    alike.
    """
    least = case.bounds.get("samples_min")
    if least is None:
        return Finding(not_checked=rules.NO_BOUND)
    parts = 1 if case.parameters["sizes"] == sizes.FIXED else TENTHS
    of_methods = [m.own for m in case.measurements]
    of_methods += [m.beside for m in case.measurements if m.beside]
    fewest = min((clients.calls / parts for clients in of_methods), default=least)
    if fewest >= least:
        return Finding()
    of_which = "" if parts == 1 else " of each tenth of the sizes"
    return Finding(f"{fewest:,.0f} calls{of_which} (at least {least:,}); measure longer")


def _has_only_homa(case: Case) -> bool:
    """It fills no queue and loses nothing; what others lose is a part of their results."""
    return methods.is_homa(case.parameters) and not methods.is_mixed(case.parameters)


def _came_twice(case: Case) -> Finding:
    """Somebody was impatient: without losses nothing has to be sent again."""
    if not _has_only_homa(case):
        return Finding()

    def share(measurement: Measurement) -> float:
        return measurement.packets.came_twice / max(measurement.packets.sent, 1)

    return rules.limit(
        case,
        "packets came twice (share of those sent); `tick_ms` may be too short",
        _unless_saturated(case, share),
        case.bounds.get("sent_again_share_max"),
    )


def _queue_drops(case: Case) -> Finding:
    if not _has_only_homa(case):
        return Finding()
    return rules.losses("the switch's queues were full", lambda m: m.queue_drops)(case)


def late_share(late: Links, after_us: float) -> float:
    """Frames later than `after_us`, or than the next lower power of two."""
    first = int(after_us * 1e3).bit_length()
    return sum(late.late_log2_ns[first:]) / late.frames if late.frames else 0.0


def _links_late(case: Case) -> Finding:
    packet_us = links.full_packet_us(case.parameters)

    def share(measurement: Measurement) -> float | None:
        late = measurement.links
        return None if late is None else late_share(late, packet_us)

    return rules.limit(
        case,
        "frames left the switch late by a packet's time (share)",
        share,
        case.bounds.get("link_late_share_max"),
    )


def _clients_late(case: Case) -> Finding:
    packet_us = links.full_packet_us(case.parameters)

    def packets(measurement: Measurement) -> float | None:
        late_us = merge((text, 1.0) for text in measurement.clients.begin_late).percentile(99)
        return None if late_us is None else late_us / packet_us

    return rules.limit(
        case,
        "calls began late (99th percentile, in a full packet's time)",
        packets,
        case.bounds.get("client_late_packets_max"),
    )


def _idle_network(case: Case) -> Finding:
    """The configured links beside the real ones: RTTbytes and priorities follow from the former."""
    most = case.bounds.get("idle_difference_max")
    if most is None:
        return Finding(not_checked=rules.NO_BOUND)
    expected = dict(case.prediction.idle_ns)
    found = [
        (abs(ns / expected[size] - 1), size, ns)
        for measurement in case.measurements
        for of_client in measurement.clients.idle_ns
        for size, ns in of_client.items()
        if size in expected
    ]
    difference, size, ns = max(found, default=(0.0, 0, 0.0))
    if difference <= most:
        return Finding()
    return Finding(
        f"a call of {size:,} B takes a client {ns / 1e6:.3g} ms on the idle network, and "
        f"{expected[size] / 1e6:.3g} ms by link_mbps, path_delay_ms and host_delay_ms (within "
        f"{most:.0%})"
    )


# In the order in which reasons are given: what is wrong first, what may explain it after.
RULES: Mapping[str, Rule] = {
    "errors": rules.errors,
    "aborted": _aborted,
    "unanswered": _unanswered,
    "servers": _servers,
    "offered": _offered,
    "delivered": _delivered,
    "samples": _samples,
    "idle network": _idle_network,
    "came twice": _came_twice,
    "queue drops": _queue_drops,
    "socket drops": rules.losses("sockets dropped packets", lambda m: m.socket_drops),
    "switch drops": rules.switch_drops,
    "NIC drops": rules.nic_drops,
    "late start": rules.late_start_of_warm_up,
    "late end": rules.late_end,
    "links late": _links_late,
    "calls late": _clients_late,
    "nodes starved": rules.starved("a node", lambda m: m.nodes.wait_share),
    "switch starved": rules.switch_starved,
    "steal": rules.steal,
}

# The ones that blame the machine.
MACHINE_RULES = rules.OF_MACHINE | {"links late", "calls late", "nodes starved"}
