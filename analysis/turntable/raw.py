"""Fields of the nodes' raw statistics (docs/raw-format.md, docs/architecture.md §5) -> Measurement. The only place that knows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from turntable.measurement import ClientPartition, LogicalServer, Measurement, SwitchPartition

Answer = Mapping[str, Any]


def read_answers(answers: Sequence[Answer], iteration: int, partitions: tuple[int, ...], overhead_s: float | None) -> Measurement:
    """answers: {"node", "command", "result"} of every host in one attempt."""
    clients = _results(answers, "kvclient", "stats")
    servers = _results(answers, "kvserver", "stats")
    return Measurement(
        iteration=iteration,
        partitions=partitions,
        seconds=fmean(client["window_ns"] for client in clients) / 1e9,
        clients={partition: _client_partition(clients, partition) for partition in partitions},
        servers=tuple(_server(server, stats["window_ns"]) for stats in servers for server in stats["logical_servers"]),
        switch=_switch(answers, partitions),
        retries=sum(client["retries"] for client in clients),
        in_flight_at_stop=sum(client["in_flight_at_stop"] for client in clients),
        client_socket_drops=sum(client["socket_drops"] for client in clients),
        start_lateness_us=max(client["start_late_max_us"] for client in clients),
        overhead_s=overhead_s,
    )


def _results(answers: Iterable[Answer], node: str, command: str) -> list[Mapping[str, Any]]:
    return [answer["result"] for answer in answers if (answer["node"], answer["command"]) == (node, command)]


def _client_partition(clients: Iterable[Mapping[str, Any]], partition: int) -> ClientPartition:
    own = [entry for client in clients for entry in client["partitions"] if entry["partition"] == partition]
    return ClientPartition(
        server_ops=sum(entry["server_ops"] for entry in own),
        switch_ops=sum(entry["switch_ops"] for entry in own),
        requests_total=sum(entry["requests_total"] for entry in own),
        answers_total=sum(entry["answers_total"] for entry in own),
        histograms=tuple(entry[key] for entry in own for key in ("server_latency_us", "switch_latency_us") if entry.get(key)),
    )


def _server(server: Mapping[str, Any], window_ns: int) -> LogicalServer:
    return LogicalServer(
        partition=server["partition"],
        ops_per_s=server["served_in_window"] * 1e9 / window_ns,
        busy_share=server["busy_in_window_ns"] / window_ns,
        socket_drops=server["socket_drops"],
    )


def _switch(answers: Iterable[Answer], partitions: Iterable[int]) -> dict[int, SwitchPartition]:
    raise NotImplementedError
