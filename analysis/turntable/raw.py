"""Fields of the nodes' raw statistics (docs/raw-format.md, docs/architecture.md §5) -> Measurement.

The only place that knows their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from turntable.measurement import ClientPartition, LogicalServer, Measurement, SwitchPartition
from turntable_core.switch_tables import ANSWERS, REQUESTS

Answer = Mapping[str, Any]

# What must not happen at all: each of these counts is an error of the system under test.
_CLIENT_ERRORS = (
    "malformed",
    "mismatched",
    "wrong_node",
    "wrong_values",
    "send_errors",
    "receive_errors",
    "unanswered",
)
_SERVER_ERRORS = ("malformed", "misrouted", "store_errors", "send_errors", "receive_errors")


def read_answers(
    answers: Sequence[Answer], iteration: int, partitions: tuple[int, ...], overhead_s: float | None
) -> Measurement:
    """answers: {"node", "command", "result"} of every host in one attempt."""
    clients = _results(answers, "kvclient", "stats")
    servers = _results(answers, "kvserver", "stats")
    rows = [(row, stats["window_ns"]) for stats in servers for row in stats["logical_servers"]]
    return Measurement(
        iteration=iteration,
        partitions=partitions,
        seconds=fmean(client["window_ns"] for client in clients) / 1e9,
        clients={partition: _client_partition(clients, partition) for partition in partitions},
        servers=tuple(_server(row, window_ns) for row, window_ns in rows),
        switch=_switch(answers, partitions),
        retries=sum(client["retries"] for client in clients),
        in_flight_at_stop=sum(client["in_flight_at_stop"] for client in clients),
        client_socket_drops=sum(client["socket_drops"] for client in clients),
        start_lateness_us=max(client["start_late_max_us"] for client in clients),
        errors=_errors("client", clients, _CLIENT_ERRORS)
        | _errors("server", [row for row, _ in rows], _SERVER_ERRORS),
        overhead_s=overhead_s,
    )


def _results(answers: Iterable[Answer], node: str, command: str) -> list[Mapping[str, Any]]:
    return [
        answer["result"]
        for answer in answers
        if (answer["node"], answer["command"]) == (node, command)
    ]


def _client_partition(clients: Sequence[Mapping[str, Any]], partition: int) -> ClientPartition:
    rows = [
        row for client in clients for row in client["partitions"] if row["partition"] == partition
    ]

    def total(*fields: str) -> int:
        return sum(row[field] for row in rows for field in fields)

    return ClientPartition(
        server_ops=total("server_ops"),
        switch_ops=total("switch_ops"),
        requests_total=total("requests_total"),
        answers_total=total("answers_total"),
        latency_sum_ns=total("server_latency_sum_ns", "switch_latency_sum_ns"),
        histograms=tuple(
            row[field] for row in rows for field in ("server_latency_ns", "switch_latency_ns")
        ),
    )


def _server(row: Mapping[str, Any], window_ns: int) -> LogicalServer:
    return LogicalServer(
        partition=row["partition"],
        ops_per_s=row["served_in_window"] * 1e9 / window_ns,
        busy_share=row["busy_in_window_ns"] / window_ns,
        socket_drops=row["socket_drops"],
    )


def _errors(who: str, rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, int]:
    """Counts that are not zero, by name."""
    counts = {f"{who} {name}": sum(row[name] for row in rows) for name in names}
    return {name: count for name, count in counts.items() if count}


def _switch(answers: Iterable[Answer], partitions: Iterable[int]) -> dict[int, SwitchPartition]:
    requests, replies = (_packets(answers, table) for table in (REQUESTS, ANSWERS))
    return {
        partition: SwitchPartition(requests[partition], replies[partition])
        for partition in partitions
    }


def _packets(answers: Iterable[Answer], table: str) -> dict[int, int]:
    """Packets by partition, of a table with one range of slots per partition."""
    (counters,) = (
        result["counters"]
        for result in _results(answers, "softswitch", "counter_read")
        if result["table"] == table
    )
    packets = {}
    for entry in counters:
        low, high = (int(entry["key"]["slot"][end]) for end in ("low", "high"))
        packets[low // (high - low + 1)] = entry["$COUNTER_SPEC_PKTS"]
    return packets
