"""Fields of the nodes' raw statistics (docs/shadowfax-nodes.md) -> Measurement.

The only place that knows their names; turntable.raw knows those of hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from statistics import fmean
from typing import Any

from turntable import raw
from turntable.raw import RawAnswer, results
from turntable.systems.shadowfax.measurement import (
    Clients,
    Measurement,
    Migration,
    Samples,
    Servers,
)

CLIENT, SERVER, METADATA = "hlload-node", "hlserver-node", "hlmeta-node"
TEXT_SERVER = "textstore-node"

Stats = Mapping[str, Any]  # of one node


def read_answers(answers: Sequence[RawAnswer], index: int, overhead_s: float | None) -> Measurement:
    """answers: of every host, in all phases of one attempt. index: of its iteration."""
    clients = results(answers, CLIENT, "stats")
    threads = [thread for client in clients for thread in client["threads"]]
    return Measurement(
        iteration=index,
        seconds=fmean(client["window_ns"] for client in clients) / 1e9,
        overhead_s=overhead_s,
        errors=_errors(answers, clients),
        retries=None,  # batches that are refused have a rule of their own
        start_lateness_us=max(thread["start_lateness_ns"] for thread in threads) / 1e3,
        end_lateness_us=max(thread["window_lateness_ns"] for thread in threads) / 1e3,
        hosts=raw.hosts(answers),
        clients=_clients(clients, threads),
        servers=_servers(answers),
        migrations=_migrations(answers, min(client["window_from_ns"] for client in clients)),
        shares=_shares(answers),
    )


def _errors(answers: Sequence[RawAnswer], clients: Sequence[Stats]) -> dict[str, int]:
    """What must not happen at all."""
    found: dict[str, int] = {}
    servers = (
        ("server", results(answers, SERVER, "stats")),
        ("store", results(answers, TEXT_SERVER, "stats")),
    )
    for who, stats in (("client", clients), *servers):
        counts = [one["errors"] for one in stats]
        names = dict.fromkeys(name for each in counts for name in each)
        found |= raw.errors(who, counts, names)
    # The first one of each kind in the server's words.
    for name, why in (("failed", "failed_why"), ("lost_sessions", "lost_why")):
        words = next((client[why] for client in clients if client.get(why)), None)
        if words and f"client {name}" in found:
            found[f"client {name} ({words})"] = found.pop(f"client {name}")
    incomplete = sum(not client["complete"] for client in clients)
    return found | ({"client window incomplete": incomplete} if incomplete else {})


def _clients(clients: Sequence[Stats], threads: Sequence[Stats]) -> Clients:
    def total(field: str) -> int:
        return sum(client[field] for client in clients)

    def texts(field: str) -> tuple[str, ...]:
        return tuple(client[field] for client in clients if client[field] is not None)

    offered = [client["offered"] for client in clients]
    return Clients(
        **{
            name: total(name)
            for name in ("operations", "reads", "upserts", "adds", "not_found", "pending")
        },
        **{name: total(name) for name in ("batches", "refused_batches")},
        fill_ops_per_s=_fill_ops_per_s(clients),
        unanswered_total=total("unanswered"),
        **{name: total(name) for name in ("adds_issued_total", "adds_acknowledged_total")},
        round_trip_ns=texts("round_trip_ns"),
        round_trip_mean_us=_round_trip_mean_us(clients),
        cpu_s=sum(thread["cpu_ns"] for thread in threads) / 1e9,
        threads=len(threads),
        wait_share=raw.wait_share(threads),
        samples=_samples(clients),
        silent_s=max(client["silent_ns"] for client in clients) / 1e9,
        offered=None if None in offered else sum(offered),
        latency_ns=texts("latency_ns"),
        send_late_ns=texts("send_late_ns"),
    )


def _fill_ops_per_s(clients: Sequence[Stats]) -> float | None:
    """All hosts fill at once: the slowest decides."""
    filled = [client.get("filled") for client in clients]
    if None in filled:
        return None
    return sum(one["stored"] for one in filled) / max(one["seconds"] for one in filled)


def _samples(clients: Sequence[Stats]) -> Samples:
    """Of all clients: they begin at one instant, and their intervals are of one length."""
    rows = list(zip(*(client["samples"] for client in clients), strict=False))

    def total(field: str) -> list[int]:
        return [sum(one[field] for one in row) for row in rows]

    return Samples(
        seconds=clients[0]["sample_ns"] / 1e9,
        **{name: total(name) for name in ("operations", "pending", "refused_batches")},
        by_server=[
            [sum(counts) for counts in zip_longest(*(one["by_server"] for one in row), fillvalue=0)]
            for row in rows
        ],
    )


def _migrations(answers: Sequence[RawAnswer], window_from_ns: int) -> list[Migration]:
    """By source, the oldest first. Instants of hosts are of a common clock."""
    told = [server.get("cluster") for server in results(answers, SERVER, "stats")]
    clusters = [cluster for cluster in told if cluster]
    found = [departure for cluster in clusters for departure in _departures(cluster)]
    fetched = [cluster["fetched"] for cluster in clusters if "fetched" in cluster]
    return [
        Migration(
            steps_s={
                name.removesuffix("_ns"): (at_ns - window_from_ns) / 1e9
                for name, at_ns in one.items()
                if name.endswith("_ns")
            },
            records=one.get("records"),
            sampled=one.get("sampled"),
            indirections=one.get("indirections"),
            fetched=sum(fetched) if fetched else None,
            why=one.get("why"),
        )
        for one in found
    ]


def _departures(cluster: Stats) -> Sequence[Stats]:
    """All migrations from a server. One of an earlier version tells its last one alone."""
    if "departures" in cluster:
        return cluster["departures"]
    return [cluster["departure"]] if cluster["departure"] else []


def _shares(answers: Sequence[RawAnswer]) -> list[float] | None:
    states = results(answers, METADATA, "stats")
    if not states:
        return None
    (state,) = states
    parts = state["view"]["parts"]  # first hash, owner
    ends = [first for first, _ in parts[1:]] + [2**64]
    shares = [0.0] * (max(member["server"] for member in state["members"]) + 1)
    for (first, owner), end in zip(parts, ends, strict=True):
        shares[owner] += (end - first) / 2**64
    return shares


def _round_trip_mean_us(clients: Sequence[Stats]) -> float | None:
    """Of all batches, wherever they came from."""
    batches = sum(client["batches"] for client in clients)
    if not batches:
        return None
    sums = (
        client["round_trip_mean_ns"] * client["batches"] for client in clients if client["batches"]
    )
    return sum(sums) / batches / 1e3


def _servers(answers: Sequence[RawAnswer]) -> Servers:
    """Shadowfax's, or those of another store in their place."""
    others = results(answers, TEXT_SERVER, "stats")
    if others:
        return _text_servers(others, answers)
    servers = results(answers, SERVER, "stats")
    workers = [worker for server in servers for worker in server["workers"]]
    reads = [server["log"].get("device_reads") for server in servers]
    alone = [one["reads_per_s"] for one in results(answers, SERVER, "device_reads")]
    return Servers(
        version=None,
        **_workers(servers),
        operations=sum(worker["operations"] for worker in workers),
        device_reads=None if None in reads else sum(reads),
        device_alone_reads_per_s=None if not alone or None in alone else sum(alone),
        **{
            f"{name}_total": sum(server["log"][name] for server in servers)
            for name in ("device_read_bytes", "device_written_bytes")
        },
        **_sums(answers, SERVER),
    )


def _text_servers(servers: Sequence[Stats], answers: Sequence[RawAnswer]) -> Servers:
    unknown = ("operations", "device_reads", "device_alone_reads_per_s")
    return Servers(
        version=servers[0]["version"],
        **_workers(servers),
        **dict.fromkeys((*unknown, "device_read_bytes_total", "device_written_bytes_total")),
        **_sums(answers, TEXT_SERVER),
    )


def _workers(servers: Sequence[Stats]) -> dict[str, Any]:
    """How many there are, and how much of their time they had, and wanted in vain. A thread that
    has ended has no times.
    """
    rows = [(worker, server["window_ns"]) for server in servers for worker in server["workers"]]
    known = [(row["cpu_ns"], window) for row, window in rows if row["cpu_ns"] is not None]
    measured_ns = sum(window for _, window in known)
    waits = [row["waited_ns"] / window for row, window in rows if row["waited_ns"] is not None]
    return {
        "workers": len(rows),
        "busy_share": sum(ns for ns, _ in known) / measured_ns if known else None,
        "wait_share": max(waits, default=None),
    }


def _sums(answers: Sequence[RawAnswer], node: str) -> dict[str, int | None]:
    sums = results(answers, node, "sums")
    return {name: sum(one[name] for one in sums) if sums else None for name in ("sum", "found")}
