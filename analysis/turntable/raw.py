"""Fields of the nodes' raw statistics (docs/raw-format.md, docs/architecture.md §5) -> Measurement.

The only place that knows their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from turntable.bookkeeping import contradictions
from turntable.measurement import (
    ClientPartition,
    HostLoad,
    LogicalServer,
    Measurement,
    Punctuality,
    Recovery,
    SwitchPartition,
)
from turntable_core.switch_tables import (
    ANSWERED_OUTCOMES,
    ANSWERS,
    CONTROL_OUTCOME,
    OUTCOMES,
    REQUESTS,
    UPDATE_OUTCOMES,
)

BEGIN, COLLECT = "begin", "collect"


@dataclass(frozen=True)
class RawAnswer:
    """What a node of `host` answered to `command` in a phase of the attempt."""

    host: str
    phase: str
    node: str
    command: str
    result: Mapping[str, Any]


# What must not happen at all: each of these counts is an error of the system under test.
_CLIENT_ERRORS = (
    "malformed",
    "mismatched",
    "wrong_node",
    "wrong_values",
    "send_errors",
    "receive_errors",
)
_SERVER_ERRORS = ("malformed", "misrouted", "store_errors", "send_errors", "receive_errors")


def read_answers(
    answers: Sequence[RawAnswer],
    iteration: int,
    partitions: tuple[int, ...],
    overhead_s: float | None,
) -> Measurement:
    """answers: of every host, in all phases of one attempt."""
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
        unanswered=sum(client["unanswered"] for client in clients),
        in_flight_at_stop=sum(client["in_flight_at_stop"] for client in clients),
        client_socket_drops=sum(client["socket_drops"] for client in clients),
        start_lateness_us=max(client["start_late_max_us"] for client in clients),
        errors=_errors("client", clients, _CLIENT_ERRORS)
        | _errors("server", [row for row, _ in rows], _SERVER_ERRORS),
        overhead_s=overhead_s,
        end_lateness_us=_largest(clients, "window_late_us"),
        client_threads=_client_threads(clients),
        switch_thread=_switch_thread(answers),
        switch_drops=_switch_drops(answers),
        hosts=_hosts(answers),
        switch_hits=_outcomes(answers, ANSWERED_OUTCOMES),
        switch_updates=_outcomes(answers, UPDATE_OUTCOMES),
        cached_set=_cached_set(answers),
        recovery=_recovery(answers),
        snapshots=_snapshots(answers),
        copies_dropped=_copies_dropped(clients),
        contradictions=tuple(
            f"{answer.host}: {text}"
            for answer in answers
            if (answer.node, answer.command) == ("kvclient", "stats")
            for text in contradictions(answer.result)
        ),
    )


def _results(answers: Iterable[RawAnswer], node: str, command: str) -> list[Mapping[str, Any]]:
    return [answer.result for answer in answers if (answer.node, answer.command) == (node, command)]


def _copies_dropped(clients: Iterable[Mapping[str, Any]]) -> int | None:
    kept = [client["copies"] for client in clients if "copies" in client]
    return sum(copies["dropped"] for copies in kept) if kept else None


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
    updates = row.get("value_updates", {})
    sent = updates["sent"] + updates["retries"] if updates else None
    return LogicalServer(
        partition=row["partition"],
        ops_per_s=row["served_in_window"] * 1e9 / window_ns,
        busy_share=row["busy_in_window_ns"] / window_ns,
        socket_drops=row["socket_drops"],
        served_total=row["served_total"],
        forgiven_us=row["forgiven_us"],
        blocked_us=row["blocked_us"],
        held_back_us=row.get("held_back_us", 0.0),
        held_back_share=row.get("held_back_in_window_ns", 0) / window_ns,
        updates_sent=sent,
        updates_acknowledged=updates.get("acknowledged", 0),
        update_round_trips_s=updates.get("round_trip_sum_ns", 0) / 1e9,
    )


def _client_threads(clients: Sequence[Mapping[str, Any]]) -> Punctuality:
    waits = [
        thread["wait_ns"] / thread["measured_ns"]
        for client in clients
        for thread in client["threads"]
        if thread.get("wait_ns") is not None and thread["measured_ns"]
    ]
    return Punctuality(_largest(clients, "read_late_max_us"), max(waits, default=None))


def _largest(clients: Sequence[Mapping[str, Any]], field: str) -> float | None:
    """Of all threads; None if one does not have it."""
    values = [thread.get(field) for client in clients for thread in client["threads"]]
    return None if None in values else max(values)


def _switch_thread(answers: Iterable[RawAnswer]) -> Punctuality:
    for info in _results(answers, "softswitch", "info"):
        thread = info.get("pipeline_thread") or {}
        # Without elapsed_ns the counts are those since the switch started: no measurement's.
        if elapsed_ns := thread.get("elapsed_ns"):
            wait_ns = thread["wait_ns"]
            return Punctuality(
                thread["late_max_ns"] / 1e3, None if wait_ns is None else wait_ns / elapsed_ns
            )
    return Punctuality()


def _switch_drops(answers: Iterable[RawAnswer]) -> dict[str, int] | None:
    stats = _results(answers, "softswitch", "port_stats")
    if not stats:
        return None
    counts: dict[str, int] = {}
    for port in (port for result in stats for port in result["ports"]):
        for reason, count in port["drops"].items():
            counts[reason] = counts.get(reason, 0) + count
    if "egress_drop" in counts:
        # What the switch answers leaves as a copy, and so does an answer that fills a slot on its
        # way; the packet itself ends there.
        fills = () if _has_value_updates(answers) else UPDATE_OUTCOMES
        ended = _outcomes(answers, (*ANSWERED_OUTCOMES, *fills, CONTROL_OUTCOME)) or 0
        counts["egress_drop"] = max(0, counts["egress_drop"] - ended)
    return {reason: count for reason, count in counts.items() if count}


def _has_value_updates(answers: Iterable[RawAnswer]) -> bool:
    """NetCache: these are turned round in the switch."""
    return any(
        "value_updates" in row
        for stats in _results(answers, "kvserver", "stats")
        for row in stats["logical_servers"]
    )


# Of /proc/stat: together all of a processor's time.
_PROCESSOR_TIMES = (
    "user_ns",
    "nice_ns",
    "system_ns",
    "idle_ns",
    "iowait_ns",
    "irq_ns",
    "softirq_ns",
    "steal_ns",
)
# Added to an outcome while a snapshot is taken (WITH_CASE3).
_IN_SNAPSHOT = 32
_NIC_DROPS = ("rx_errors", "rx_drops", "rx_overruns", "tx_errors", "tx_drops", "tx_overruns")


def _hosts(answers: Sequence[RawAnswer]) -> tuple[HostLoad, ...] | None:
    """What the hosts' counters grew by from the begin of the measurement to its end."""
    stats: dict[str, dict[str, Mapping[str, Any]]] = {}
    for answer in answers:
        if (answer.node, answer.command) == ("supervisor", "host_stats"):
            stats.setdefault(answer.host, {})[answer.phase] = answer.result
    if not stats:
        return None
    return tuple(_host_load(host, both[BEGIN], both[COLLECT]) for host, both in stats.items())


def _host_load(host: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> HostLoad:
    grown = {name: after[name] - before[name] for name in _PROCESSOR_TIMES}
    whole = sum(grown.values())
    return HostLoad(
        host,
        steal_share=grown["steal_ns"] / whole if whole else 0.0,
        nic_drops=_nic_drops(after) - _nic_drops(before),
    )


def _nic_drops(stats: Mapping[str, Any]) -> int:
    return sum(
        interface[name]
        for interface in stats["interfaces"]
        if interface["name"] != "lo"
        for name in _NIC_DROPS
    )


def _errors(who: str, rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, int]:
    """Counts that are not zero, by name."""
    counts = {f"{who} {name}": sum(row[name] for row in rows) for name in names}
    return {name: count for name, count in counts.items() if count}


def _switch(answers: Iterable[RawAnswer], partitions: Iterable[int]) -> dict[int, SwitchPartition]:
    requests, replies = (_packets(answers, table) for table in (REQUESTS, ANSWERS))
    return {
        partition: SwitchPartition(requests[partition], replies[partition])
        for partition in partitions
    }


def _packets(answers: Iterable[RawAnswer], table: str) -> dict[int, int]:
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


def _outcomes(answers: Iterable[RawAnswer], wanted: Iterable[int]) -> int | None:
    """Packets with these outcomes; None: a program without a cache."""
    for result in _results(answers, "softswitch", "counter_read"):
        if result["table"] == OUTCOMES:
            packets = {row["index"]: row["$COUNTER_SPEC_PKTS"] for row in result["counters"]}
            return sum(
                packets.get(outcome + in_snapshot, 0)
                for outcome in wanted
                for in_snapshot in (0, _IN_SNAPSHOT)
            )
    return None


def _recovery(answers: Iterable[RawAnswer]) -> Recovery | None:
    recoveries = _results(answers, "cache-controller", "recover")
    if not recoveries:
        return None
    first, again = recoveries
    return Recovery(
        seconds={row["phase"]: row["seconds"] for row in first["phases"]},
        records={row["phase"]: row["records"] for row in first["phases"]},
        restored=first["restored"],
        newer=first["newer"],
        # Since fences keep older records out for good, what the first one has left out is counted.
        missed=again["newer"] + again.get("missed", 0),
        digests=(first["digest"], again["digest"]),
    )


def _snapshots(answers: Iterable[RawAnswer]) -> tuple[tuple[float, float], ...] | None:
    """None: the run took none."""
    began = [
        answer.result
        for answer in answers
        if (answer.node, answer.command, answer.phase) == ("cache-controller", "settings", BEGIN)
    ]
    if not began:
        return None
    from_ns = began[-1]["snapshot_from_ns"]
    (stats,) = _results(answers, "cache-controller", "stats")
    return tuple(
        ((one["began_at_ns"] - from_ns) / 1e9, (one["ended_at_ns"] - from_ns) / 1e9)
        for one in stats["snapshots"]["complete"]
    )


def _cached_set(answers: Iterable[RawAnswer]) -> tuple[str, str] | None:
    """What the controller made of the cache before the measurement, and what it was after."""
    wanted = _results(answers, "cache-controller", "readmit")
    found = _results(answers, "switch-agent", "cached_set")
    return (wanted[-1]["digest"], found[-1]["digest"]) if wanted and found else None
