"""Which counters have to be the same, and by how much they are not."""

from __future__ import annotations

from collections.abc import Iterator

from turntable.systems.netclone.measurement import Measurement

# What should be the same, what the first has more, and so many of these there may be: clients are
# done when they have an answer to everything, while servers may still have slower copies.
Difference = tuple[str, int, int]


def differences(measurement: Measurement, saturated: bool) -> Iterator[Difference]:
    """Of the whole iteration: every packet that one counts, another one has counted too. Where the
    system is saturated some of them end in sockets, or are in queues when all is over.
    """
    yield from _on_the_way_there(measurement)
    if not saturated:
        yield from _at_servers_and_back(measurement)


def _on_the_way_there(measurement: Measurement) -> Iterator[Difference]:
    sent = measurement.clients.sent_total
    if switch := measurement.switch:
        yield "requests at clients and switch", sent - switch.requests, 0
        yield "clones and what came round of them", switch.cloned - switch.came_round, 0
        decided = switch.cloned + sum(switch.not_cloned.values())
        yield "requests of the switch by what became of them", switch.requests - decided, 0
    elif coordinator := measurement.coordinator:
        yield "requests at clients and coordinator", sent - coordinator.requests, 0


def _at_servers_and_back(measurement: Measurement) -> Iterator[Difference]:
    servers, back = measurement.servers, measurement.clients.received_total
    copies = sum(server.received_total for server in servers)
    answers = sum(server.answered_total for server in servers)
    dropped = sum(server.clones_dropped_total for server in servers)
    kept = sum(server.slots + server.longest_queue for server in servers)  # at most
    if switch := measurement.switch:
        yield "copies at switch and servers", switch.requests + switch.came_round - copies, 0
        yield "answers at servers and switch", answers - switch.responses, kept
        yield "answers at switch and clients", switch.responses - switch.filtered - back, kept
    elif coordinator := measurement.coordinator:
        not_sent = coordinator.queue_full + coordinator.queue_length
        handed_out = coordinator.requests - not_sent + coordinator.cloned
        yield "copies at coordinator and servers", handed_out - copies, 0
        came_back = coordinator.forwarded + coordinator.redundant
        yield "answers at servers and coordinator", answers - came_back, kept
        yield "answers at coordinator and clients", coordinator.forwarded - back, 0
    else:
        yield "requests at clients and servers", measurement.clients.sent_total - copies, 0
        yield "answers at servers and clients", answers - back, kept
    yield "copies that servers answered, dropped or still had", copies - dropped - answers, kept
