"""Do the counters of clients, switch and servers add up?"""

from __future__ import annotations

from collections.abc import Iterator

from turntable.rules import limit, without_data
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.state import is_saturated
from turntable.verdict import Case, Finding


def counters(case: Case) -> Finding:
    differing = [
        text
        for measurement in case.measurements
        for text in (*(measurement.contradictions or ()), *_differences(measurement, case))
    ]
    lacking = sum(measurement.contradictions is None for measurement in case.measurements)
    not_checked = without_data(lacking, case) or _begun_anew(case)
    if not differing:
        return Finding(not_checked=not_checked)
    more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
    return Finding(f"counters do not add up: {differing[0]}{more}", not_checked)


def _starts_nodes(measurement: Measurement) -> bool:
    return any(event.starts_nodes for event in measurement.events)


def _begun_anew(case: Case) -> str | None:
    count = sum(map(_starts_nodes, case.measurements))
    if not count:
        return None
    return f"the timeline started nodes again in {count} of {len(case.measurements)} iterations"


def _differences(measurement: Measurement, case: Case) -> Iterator[str]:
    """Every request of a client passed the switch once, and every answer of a server too; what
    clients got besides, the switch itself gave. What was lost on the way, within the bound, is no
    contradiction; nor is what a saturated open loop's queues still held when its clients went.
    Nodes that began to count in between have no such sums.
    """
    if measurement.imported or _starts_nodes(measurement):
        return
    served = {server.partition: server.served_total for server in measurement.servers}
    has_hits = measurement.switch_hits is not None
    too_late = (measurement.unanswered or 0) if is_saturated(case) else 0
    for partition in measurement.partitions:
        client, switch = measurement.clients[partition], measurement.switch[partition]
        where = f"iteration {measurement.iteration}, partition {partition}"
        allowed = case.loss_share * client.requests_total
        requests, answers = client.requests_total, client.answers_total
        if abs(switch.requests - requests) > allowed:
            yield f"{where}: {switch.requests} requests in the switch, {requests} at the clients"
        too_few = not has_hits and answers - switch.answers > allowed
        if too_few or switch.answers - answers > allowed + too_late:
            yield f"{where}: {switch.answers} answers in the switch, {answers} at the clients"
        by_server = served.get(partition)
        if by_server is None:
            continue
        too_few = not has_hits and client.switch_ops == 0 and answers - by_server > allowed
        if too_few or by_server - answers > allowed + too_late:
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


def rates(case: Case) -> Finding:
    """Clients and servers count the same window at their own ends."""

    def difference(measurement: Measurement) -> float:
        unit = measurement.busier.ops_per_s or 1.0
        return max(
            abs(measurement.rates(server.partition).server - server.ops_per_s) / unit
            for server in measurement.servers
        )

    return limit(
        case,
        "clients and servers disagree on the rate (share of the busier server's)",
        difference,
        case.bounds.get("rate_difference_max"),
    )
