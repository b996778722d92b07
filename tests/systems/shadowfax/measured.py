"""Answers as the nodes of docs/shadowfax-nodes.md give them, in which everything is in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from made_raw import histogram

from turntable.raw import BEGIN, COLLECT, RawAnswer
from turntable.systems.shadowfax.measurement import Measurement
from turntable.systems.shadowfax.raw import read_answers

from .conftest import DOCUMENT, parameters

VALIDITY = DOCUMENT["validity"]
WINDOW_S = 2
# A client host with two threads, a session each at two servers.
PARAMETERS = parameters(
    servers=2, threads=2, keys=1_000, pipeline=2, batch_operations=100, measure_s=WINDOW_S
)
# 2 threads x 2 servers x 2 under way x 100 operations come out every 400 us.
OPERATIONS = WINDOW_S * 800 * 1_000_000 // 400
ROUND_TRIP_US = 400
WINDOW_FROM_NS = 10**18


THREAD = {
    "start_lateness_ns": 50_000,
    "window_lateness_ns": 50_000,
    "measured_ns": WINDOW_S * 10**9,
    "scheduling": {"ran_ns": 10**9, "waited_ns": 10**8},
    "cpu_ns": 10**9,
    "operations": OPERATIONS // 2,
}


def sample(*by_server: int) -> dict[str, Any]:
    return {
        "operations": sum(by_server),
        "pending": 0,
        "refused_batches": 0,
        "by_server": list(by_server),
    }


def client_stats(**changes: Any) -> dict[str, Any]:
    batches = OPERATIONS // 100
    return {
        "complete": True,
        "filled": {"stored": 1000, "seconds": 0.001},
        "window_ns": WINDOW_S * 10**9,
        "threads": [THREAD, THREAD],
        "operations": OPERATIONS,
        "adds": OPERATIONS,
        **dict.fromkeys(("reads", "upserts", "not_found", "pending", "refused_batches"), 0),
        "batches": batches,
        "round_trip_ns": histogram({ROUND_TRIP_US: batches}),
        "round_trip_mean_ns": ROUND_TRIP_US * 1e3,
        **dict.fromkeys(("offered", "unsent", "latency_ns", "send_late_ns", "lost_why")),
        "unanswered": 0,
        "adds_issued_total": 6_000_000,
        "adds_acknowledged_total": 6_000_000,
        "errors": {"failed": 0, "lost_sessions": 0, "wrong_values": 0},
        "window_from_ns": WINDOW_FROM_NS,
        "silent_ns": 500_000,
        "sample_ns": 10**9,
        "samples": [sample(OPERATIONS // 4, OPERATIONS // 4)] * 2,
    } | changes


WORKER = {
    "operations": OPERATIONS // 4,
    "batches": OPERATIONS // 400,
    "refused_batches": 0,
    "pending": 0,
    "sessions": 1,
    "cpu_ns": 1_500_000_000,
    "waited_ns": 10**8,
}


def server_stats(**changes: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "cluster": None,
        "checkpoints": {"made": 0, "failed": 0},
        "window_ns": WINDOW_S * 10**9,
        "workers": [WORKER, WORKER],
        "log": {
            "begin": 64,
            "head": 64,
            "read_only": 64,
            "tail": 24_064,
            "memory_bytes": 2**20,
            "device_reads": 0,
            "device_read_bytes": 1_000_000,
            "device_written_bytes": 2_000_000,
        },
        "errors": {"log_write": 0},
    } | changes


TEXT_WORKER = {"cpu_ns": 1_500_000_000, "waited_ns": 10**8}


def text_stats(**changes: Any) -> dict[str, Any]:
    """Of memcached with two threads."""
    return {
        "format": 1,
        "window_ns": WINDOW_S * 10**9,
        "workers": [TEXT_WORKER, TEXT_WORKER],
        "version": "1.6.18",
        "command": ["/usr/bin/memcached"],
        "ended": None,
        "errors": {"store ended": 0},
    } | changes


def host_stats(steal_ns: int = 0) -> dict[str, Any]:
    times = dict.fromkeys(
        ("user_ns", "nice_ns", "system_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns"), 0
    )
    interface = dict.fromkeys(
        ("rx_errors", "rx_drops", "rx_overruns", "tx_errors", "tx_drops", "tx_overruns"), 0
    )
    return times | {"steal_ns": steal_ns, "interfaces": [interface | {"name": "data"}]}


def answers(
    client: Mapping[str, Any] | None = None,
    server: Mapping[str, Any] | None = None,
    sums: tuple[int, int] | None = (3_000_000, 500),
    stolen_ns: int = 0,
    node: str = "hlserver-node",
) -> list[RawAnswer]:
    """sums: of each of two servers, and how many keys have a value; None: nobody asked. node: of
    the servers.
    """
    made = [RawAnswer("client0", COLLECT, "hlload-node", "stats", client or client_stats())]
    for host in ("server0", "server1"):
        made.append(RawAnswer(host, COLLECT, node, "stats", server or server_stats()))
        if sums:
            added = {"sum": sums[0], "found": sums[1]}
            made.append(RawAnswer(host, COLLECT, node, "sums", added))
    for host in ("client0", "server0", "server1"):
        before, after = host_stats(), host_stats(stolen_ns) | {"user_ns": 4 * 10**9}
        made.append(RawAnswer(host, BEGIN, "supervisor", "host_stats", before))
        made.append(RawAnswer(host, COLLECT, "supervisor", "host_stats", after))
    return made


def text_measurement(client: Mapping[str, Any] | None = None, **changes: Any) -> Measurement:
    """Of memcached on both hosts. changes: of what it says."""
    server = text_stats(**changes)
    return read_answers(answers(client, server, node="textstore-node"), 0, 1.0)


def measurement(*args: Any, **kwargs: Any) -> Measurement:
    return read_answers(answers(*args, **kwargs), 0, 1.0)
