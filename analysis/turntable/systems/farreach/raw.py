"""Fields of the nodes' raw statistics (docs/raw-format.md, docs/architecture.md §5) -> Measurement.

The only place that knows their names; turntable.raw knows those of hosts and of the switch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from statistics import fmean
from typing import Any

from turntable import raw
from turntable.raw import BEGIN, RawAnswer, results, switch_results
from turntable.systems.farreach import control_plane, ycsb
from turntable.systems.farreach.bookkeeping import contradictions
from turntable.systems.farreach.measurement import (
    ClientPartition,
    LogicalServer,
    Measurement,
    Recovery,
    SwitchPartition,
)
from turntable.systems.farreach.open_loop import read_open_loop
from turntable.systems.farreach.seconds import read_seconds
from turntable_systems.farreach.p4_numbers import WITH_CASE3
from turntable_systems.farreach.switch_tables import (
    ANSWERED_OUTCOMES,
    ANSWERS,
    CONTROL_OUTCOME,
    OUTCOMES,
    REQUESTS,
    UPDATE_OUTCOMES,
)

Stats = Mapping[str, Any]  # of one client machine

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
    clients = results(answers, "kvclient", "stats") or ycsb.clients(answers)
    servers = results(answers, "kvserver", "stats")
    rows = [(row, stats["window_ns"]) for stats in servers for row in stats["logical_servers"]]
    said = ycsb.said(answers)
    return Measurement(
        iteration=iteration,
        partitions=partitions,
        seconds=fmean(client["window_ns"] for client in clients) / 1e9,
        overhead_s=overhead_s,
        errors=raw.errors("client", clients, _CLIENT_ERRORS)
        | raw.errors("server", [row for row, _ in rows], _SERVER_ERRORS)
        | ({} if said is None else said.errors),
        start_lateness_us=max(client["start_late_max_us"] for client in clients),
        end_lateness_us=raw.of_threads(clients, "window_late_us"),
        hosts=raw.hosts(answers),
        servers=tuple(_server(row, window_ns) for row, window_ns in rows),
        **_of_clients(clients, partitions),
        **_of_switch(answers, partitions),
        **_of_method(answers),
        contradictions=_contradictions(answers),
        ycsb=said,
    )


def _of_clients(clients: Sequence[Stats], partitions: Iterable[int]) -> dict[str, Any]:
    sums = ("retries", "unanswered", "in_flight_at_stop")
    return {
        "clients": {partition: _client_partition(clients, partition) for partition in partitions},
        **{name: sum(client[name] for client in clients) for name in sums},
        "client_socket_drops": sum(client["socket_drops"] for client in clients),
        "client_threads": raw.threads(clients),
        "copies_dropped": _copies_dropped(clients),
        "open_loop": read_open_loop(clients),
        "each_second": read_seconds(clients),
        "popularity_spread_s": _popularity_spread_s(clients),
        "client_ns_per_op": _client_ns_per_op(clients),
    }


def _of_switch(answers: Sequence[RawAnswer], partitions: Iterable[int]) -> dict[str, Any]:
    return {
        "switch": _switch(answers, partitions),
        "switch_thread": raw.switch_thread(answers),
        "switch_drops": raw.switch_drops(answers, {"egress_drop": _answered_in_egress(answers)}),
        "switch_hits": _outcomes(answers, ANSWERED_OUTCOMES),
        "switch_updates": _outcomes(answers, UPDATE_OUTCOMES),
    }


def _of_method(answers: Sequence[RawAnswer]) -> dict[str, Any]:
    return {
        "cached_set": _cached_set(answers),
        "recovery": _recovery(answers),
        "snapshots": _snapshots(answers),
        "control_plane": control_plane.read(answers),
        "switch_ns_per_op": _switch_ns_per_op(answers),
    }


def _contradictions(answers: Iterable[RawAnswer]) -> tuple[str, ...]:
    return tuple(
        f"{answer.host}: {text}"
        for answer in answers
        if (answer.node, answer.command) == ("kvclient", "stats")
        for text in contradictions(answer.result)
    ) + tuple(
        f"YCSB: {text}" for client in ycsb.clients(answers) for text in contradictions(client)
    )


def _copies_dropped(clients: Iterable[Mapping[str, Any]]) -> int | None:
    kept = [client["copies"] for client in clients if "copies" in client]
    return sum(copies["dropped"] for copies in kept) if kept else None


def _client_ns_per_op(clients: Sequence[Stats]) -> float | None:
    times = [thread.get("run_ns") for client in clients for thread in client["threads"]]
    operations = sum(client["operations"] for client in clients)
    return sum(times) / operations if operations and times and None not in times else None


def _switch_ns_per_op(answers: Sequence[RawAnswer]) -> float | None:
    """Of all answers, since the switch's time is of the whole iteration too."""
    run_ns = control_plane.switch_run_ns(answers)
    clients = results(answers, "kvclient", "stats")
    answered = sum(row["answers_total"] for client in clients for row in client["partitions"])
    return run_ns / answered if run_ns is not None and answered else None


def _popularity_spread_s(clients: Iterable[Stats]) -> float | None:
    told = [client["popularity"] for client in clients if "popularity" in client]
    if not told:
        return None
    if len({tuple(one["period"] for one in begun) for begun in told}) > 1:
        return inf  # some began periods that others did not
    instants = ([one["at_ns"] for one in same] for same in zip(*told, strict=True))
    return max(((max(at) - min(at)) / 1e9 for at in instants), default=0.0)


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
        latency_count=_latency_count(clients, partition),
        switch_histograms=tuple(row["switch_latency_ns"] for row in rows),
    )


def _latency_count(clients: Sequence[Mapping[str, Any]], partition: int) -> int | None:
    rows = [
        row
        for client in clients
        for row in client.get("open_loop", {}).get("partitions", ())
        if row["partition"] == partition
    ]
    return sum(row["server_answered"] + row["switch_answered"] for row in rows) if rows else None


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


def _answered_in_egress(answers: Iterable[RawAnswer]) -> int:
    """What the switch answers leaves as a copy, and so does an answer that fills a slot on its way;
    the packet itself ends there, and is counted as a drop.
    """
    fills = () if _has_value_updates(answers) else UPDATE_OUTCOMES
    return _outcomes(answers, (*ANSWERED_OUTCOMES, *fills, CONTROL_OUTCOME)) or 0


def _has_value_updates(answers: Iterable[RawAnswer]) -> bool:
    """NetCache: these are turned round in the switch."""
    return any(
        "value_updates" in row
        for stats in results(answers, "kvserver", "stats")
        for row in stats["logical_servers"]
    )


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
        for result in switch_results(answers, "counter_read")
        if result["table"] == table
    )
    packets = {}
    for entry in counters:
        low, high = (int(entry["key"]["slot"][end]) for end in ("low", "high"))
        packets[low // (high - low + 1)] = entry["$COUNTER_SPEC_PKTS"]
    return packets


def _outcomes(answers: Iterable[RawAnswer], wanted: Iterable[int]) -> int | None:
    """Packets with these outcomes; None: a program without a cache."""
    for result in switch_results(answers, "counter_read"):
        if result["table"] == OUTCOMES:
            packets = {row["index"]: row["$COUNTER_SPEC_PKTS"] for row in result["counters"]}
            return sum(
                packets.get(outcome + in_snapshot, 0)
                for outcome in wanted
                for in_snapshot in (0, WITH_CASE3)
            )
    return None


def _recovery(answers: Iterable[RawAnswer]) -> Recovery | None:
    recoveries = results(answers, "cache-controller", "recover")
    if not recoveries:
        return None
    first, again = recoveries
    return Recovery(
        seconds={row["phase"]: row["seconds"] for row in first["phases"]},
        records={row["phase"]: row["records"] for row in first["phases"]},
        restored=first["restored"],
        newer=first["newer"],
        missed=_missed(again),
        digests=(first["digest"], again["digest"]),
    )


def _missed(again: Mapping[str, Any]) -> int | None:
    # Since fences keep older records out for good, what the first one has left out is counted.
    newer, missed = again["newer"], again.get("missed", 0)
    return None if newer is None or missed is None else newer + missed


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
    stats = results(answers, "cache-controller", "stats")[-1]  # the last; before are the begin's
    return tuple(
        ((one["began_at_ns"] - from_ns) / 1e9, (one["ended_at_ns"] - from_ns) / 1e9)
        for one in stats["snapshots"]["complete"]
    )


def _cached_set(answers: Iterable[RawAnswer]) -> tuple[str, str] | None:
    """What the controller made of the cache before the measurement, and what it was after."""
    wanted = results(answers, "cache-controller", "readmit")
    found = results(answers, "switch-agent", "cached_set")
    return (wanted[-1]["digest"], found[-1]["digest"]) if wanted and found else None
