"""Fields of the nodes' raw statistics (docs/homa.md §8) -> Measurement.

The only place that knows their names; turntable.raw knows those of hosts and of the switch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from statistics import fmean
from typing import Any

from turntable import raw
from turntable.measurement import Punctuality
from turntable.raw import RawAnswer, results, switch_results
from turntable.systems.homa.measurement import TENTHS, Clients, Links, Measurement, Packets
from turntable_systems.homa import methods, placement

Stats = Mapping[str, Any]  # of one node

# What must not happen at all: each of these counts is an error of the system under test.
_CLIENT_ERRORS = ("wrong",)
_TRANSPORT_ERRORS = ("malformed", "strangers", "refused", "receive_errors")
_TCP_ERRORS = ("connections_lost",)
_QUEUE_LIMIT = "queue_limit"


def read_answers(
    answers: Sequence[RawAnswer],
    iteration: int,
    overhead_s: float | None,
    parameters: Mapping[str, Any],
) -> Measurement:
    """answers: of every host, in all phases of one attempt. parameters: of its cell."""
    clients = results(answers, placement.CLIENT, "stats")
    servers = [
        result
        for name in (placement.SERVER, placement.BESIDE)
        for result in results(answers, name, "stats")
    ]
    nodes = [*clients, *servers]
    own, beside = _by_method(clients, parameters)
    transports = [node["transport"] for node in nodes]
    drops = raw.switch_drops(answers, {})
    return Measurement(
        iteration=iteration,
        seconds=fmean(client["window_ns"] for client in clients) / 1e9,
        overhead_s=overhead_s,
        errors=raw.errors("client", clients, _CLIENT_ERRORS)
        | raw.errors("transport", transports, _TRANSPORT_ERRORS)
        | raw.errors(
            "transport", [node["transport"] for node in nodes if _is_tcp(node)], _TCP_ERRORS
        ),
        start_lateness_us=max(client["start_late_us"] for client in clients),
        end_lateness_us=max(client["window_late_us"] for client in clients),
        hosts=raw.hosts(answers),
        switch_thread=raw.switch_thread(answers),
        switch_drops=None if drops is None else _without(drops, _QUEUE_LIMIT),
        clients=_clients(clients),
        own=_clients(own),
        beside=_clients(beside) if beside else None,
        packets=_packets(transports),
        echoed_bytes=tuple(_echoed(answers)),
        socket_drops=sum(node["socket_drops"] for node in nodes if not _is_tcp(node)),
        tcp_socket_drops=sum(node["socket_drops"] for node in nodes if _is_tcp(node)),
        queue_drops=None if drops is None else drops.get(_QUEUE_LIMIT, 0),
        links=_links(answers),
        nodes=_punctuality(nodes, clients[0]["window_ns"]),
    )


def _is_tcp(node: Stats) -> bool:
    return "connections" in node["transport"]


def _echoed(answers: Sequence[RawAnswer]) -> Iterator[int]:
    """From the begin of the clients' load on, by each server host."""
    by_host: dict[str, int] = {}
    for answer in answers:
        if answer.node in (placement.SERVER, placement.BESIDE) and answer.command == "stats":
            by_host.setdefault(answer.host, 0)
            by_host[answer.host] += answer.result["echoed_bytes"]
    yield from by_host.values()


def _by_method(
    clients: Sequence[Stats], parameters: Mapping[str, Any]
) -> tuple[list[Stats], list[Stats]]:
    """Those of the cell's method, and those beside."""
    own: list[Stats] = []
    beside: list[Stats] = []
    for client in clients:
        (beside if methods.is_beside(parameters, client["client"]) else own).append(client)
    return own, beside


def _without(counts: Mapping[str, int], name: str) -> dict[str, int]:
    return {key: count for key, count in counts.items() if key != name}


def _clients(hosts: Sequence[Stats]) -> Clients:
    def total(field: str) -> int:
        return sum(host[field] for host in hosts)

    return Clients(
        calls=total("offered"),
        answered=total("answered"),
        aborted=total("aborted"),
        unanswered=total("unanswered"),
        waited=total("waited"),
        offered_bytes=total("offered_bytes"),
        answered_bytes=total("answered_bytes"),
        rtt_ns=_tenths(hosts, "rtt_ns"),
        slowdown_1000=_tenths(hosts, "slowdown_1000"),
        begin_late=tuple(host["begin_late_ns"] for host in hosts),
        idle_ns=tuple({int(size): ns for size, ns in host["idle"]} for host in hosts),
        waiting_max=[sum(row["waiting_max"] for row in second) for second in _seconds(hosts)],
        per_second=[
            {name: sum(row[name] for row in second) for name in ("offered", "answered")}
            for second in _seconds(hosts)
        ],
    )


def _seconds(hosts: Sequence[Stats]) -> Iterable[tuple[Stats, ...]]:
    return zip(*(host["seconds"] for host in hosts), strict=True)


def _tenths(hosts: Sequence[Stats], field: str) -> tuple[tuple[str, ...], ...]:
    """Of the hundredths that nodes have."""
    every = [host["percentiles"] for host in hosts]
    width = len(every[0]) // TENTHS
    return tuple(
        tuple(row[field] for rows in every for row in rows[tenth * width : (tenth + 1) * width])
        for tenth in range(TENTHS)
    )


def _packets(transports: Sequence[Stats]) -> Packets:
    def total(*fields: str) -> int:
        """Each transport has one of them, or none."""
        return sum(transport.get(field, 0) for transport in transports for field in fields)

    return Packets(
        sent=total("datagrams_sent", "messages_sent"),
        sent_again=total("packets_sent_again", "retransmitted_segments"),
        came_twice=total("duplicate_packets"),
    )


def _links(answers: Sequence[RawAnswer]) -> Links | None:
    ports = [
        port
        for result in switch_results(answers, "tm_read")
        for port in result["ports"]
        if port["link_bps"] is not None
    ]
    if not ports:
        return None
    frames = sum(port["link_frames"] for port in ports)
    late_ns = sum(port["link_late_sum_ns"] for port in ports)
    counts = zip_longest(*(port["link_late_log2_ns"] for port in ports), fillvalue=0)
    return Links(
        frames=frames,
        late_mean_us=late_ns / frames / 1e3 if frames else 0.0,
        late_max_us=max(port["link_late_max_ns"] for port in ports) / 1e3,
        late_log2_ns=tuple(map(sum, counts)),
        queued_max_bytes=max(
            queue["watermark_bytes"] for port in ports for queue in port["queues"]
        ),
    )


def _punctuality(nodes: Sequence[Stats], window_ns: float) -> Punctuality:
    waits = [node["wait_ns"] / window_ns for node in nodes if node["wait_ns"] is not None]
    late_us = [node["read_late_max_us"] for node in nodes if node["read_late_max_us"] is not None]
    return Punctuality(max(late_us, default=None), max(waits, default=None))
