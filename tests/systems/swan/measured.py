"""Answers as the nodes of docs/swan.md give them, in which everything is in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from made_raw import histogram

from turntable.raw import BEGIN, COLLECT, RawAnswer
from turntable.systems.swan.measurement import Measurement
from turntable.systems.swan.raw import read_answers

from .conftest import DOCUMENT, parameters

SLO_US = 5_000
WINDOW_S = 5
RATE_PER_S = 1_000
PARAMETERS = parameters(aggressors="placebo+busy", load_points=3, loads="", slo_us=SLO_US)
VALIDITY = DOCUMENT["validity"]


def with_p99(p99_us: float, count: int = 5_000) -> str:
    """Nine tenths take half as long, 0.5 % twice as long."""
    tail, slowest = count // 10 - count // 200, count // 200
    return histogram({p99_us / 2: count - tail - slowest, p99_us: tail, 2 * p99_us: slowest})


THREAD = {
    "start_lateness_ns": 50_000,
    "measured_ns": WINDOW_S * 10**9,
    "window_lateness_ns": 50_000,
    "read_lateness_max_ns": 100_000,
    "scheduling": {"ran_ns": 10**9, "waited_ns": 10**8},
    "realtime": False,
}
ERRORS = (
    *("protocol", "server_error", "client_error", "out_of_memory", "closed", "reconnected"),
    "wrong_size",
)


def client_stats(
    p99_us: float = 400, rate_per_s: float = RATE_PER_S, achieved: float = 1.0, **changes: Any
) -> dict[str, Any]:
    """achieved: share of the target that was answered in the window."""
    offered = round(rate_per_s * WINDOW_S)
    latency = with_p99(p99_us)
    second = {"offered": offered // WINDOW_S, "delivered": round(achieved * offered / WINDOW_S)}
    return {
        "complete": True,
        "window_ns": WINDOW_S * 10**9,
        "rate_per_s": rate_per_s,
        "peak_per_s": 10_000.0,
        "offered": offered,
        "delivered": round(achieved * offered),
        **dict.fromkeys(("lost", "unsent", "withheld", "sets", "misses"), 0),
        "requests_total": round(1.2 * offered),
        "answers_total": round(1.2 * offered),
        "gets": offered,
        "hits": offered,
        "errors": dict.fromkeys(ERRORS, 0),
        **{f"{kind}latency_ns": latency for kind in ("", "get_")},
        **{f"{kind}from_send_ns": with_p99(p99_us / 2) for kind in ("", "get_")},
        "set_latency_ns": histogram({}),
        "set_from_send_ns": histogram({}),
        "send_late_ns": histogram({20: offered}),
        "read_late_ns": histogram({20: offered}),
        "per_second": [second | {"latency_sum_ns": 0, "latency_max_ns": 0}] * WINDOW_S,
        "threads": [THREAD],
        "cpu": {"user_ns": 10**9, "system_ns": 10**9},
        "rx_bytes": 10**6,
        "tx_bytes": 10**6,
        **changes,
    }


def probe(chase_ns: float = 100.0) -> dict[str, Any]:
    """One of the rows runs beside another piece of work."""
    return {
        "rows": [
            {"what": "chase", "size_kib": 1024, "cpu": 0, "beside": None, "ns_per_step": chase_ns},
            {
                "what": "chase",
                "size_kib": 1024,
                "cpu": 0,
                "beside": {"what": "stream", "cpu": 1},
                "ns_per_step": 1.1 * chase_ns,
            },
            {"what": "stream", "cpu": 1, "beside": None, "shared": True, "gb_per_s": 12.0},
            {"what": "integer", "cpu": 0, "beside": None, "per_us": 900.0},
        ]
    }


def aggressor_stats(
    name: str, progress_per_s: float | None = 100.0, ended_early: str | None = None
) -> dict[str, Any]:
    known = {"unit": "bogo ops", "amount": (progress_per_s or 0) * WINDOW_S, "seconds": WINDOW_S}
    return {
        "name": name,
        "command": [name, "--count", "1"],
        "version": "1.0",
        "count": 1,
        "cpus": [0],
        "user_ns": 10**9,
        "system_ns": 0,
        "ended_early": ended_early,
        "progress": known if progress_per_s is not None else None,
    }


def colocator_stats(aggressor: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "window_ns": WINDOW_S * 10**9,
        "memcached": {
            "pid": 42,
            "restarted": False,
            "user_ns": 10**9,
            "system_ns": 10**9,
            "voluntary_switches": 1000,
            "involuntary_switches": 10,
            "stats": {
                "get_hits": 5000, "get_misses": 0, "evictions": 0, "curr_items": 1001,
                "curr_connections": 17,
            },
        },
        "aggressor": aggressor,
        "placement": {"hp": [0], "l1": [0], "l3": [0], "generator": [1], "notes": []},
        "isolation": {"mechanism": "none", "applied": ["cpu.shares 1024 in be"]},
        "others_share": 0.01,
        "probe": probe(),
        "first_probe": probe(),
        "platform": {
            "cpu_model": "A processor", "kernel": "6.1.0", "os": "Debian 12",
            "topology": [{"cpu": 0, "core": 0, "socket": 0}, {"cpu": 1, "core": 1, "socket": 0}],
            "governor": {"0": "performance"}, "tcp_syncookies": 0, "open_files": 65536,
            "irq_affinity": {}, "rdt": {"cat": False, "mba": False, "why": "no resctrl"},
            "versions": {"memcached": "1.6.18", "stress-ng": "0.15.06"}, "warnings": [],
        },
        **changes,
    }  # fmt: skip


def host_stats(steal_ns: int = 0, rx_drops: int = 0, elapsed_ns: int = 0) -> dict[str, Any]:
    times = ("user_ns", "nice_ns", "system_ns", "iowait_ns", "irq_ns", "softirq_ns")
    counts = ("rx_errors", "rx_overruns", "tx_errors", "tx_drops", "tx_overruns")
    interface = {"name": "eth0", "rx_drops": rx_drops, **dict.fromkeys(counts, 0)}
    return {
        **dict.fromkeys(times, 0),
        "idle_ns": elapsed_ns - steal_ns,
        "steal_ns": steal_ns,
        "interfaces": [interface],
    }


def answers_of(
    client: Mapping[str, Any],
    colocator: Mapping[str, Any],
    begin: Mapping[str, Any] | None = None,
    end: Mapping[str, Any] | None = None,
) -> list[RawAnswer]:
    """begin, end: host_stats of the server."""
    ended = end or host_stats(elapsed_ns=10**10)
    return [
        RawAnswer("server0", BEGIN, "supervisor", "host_stats", begin or host_stats()),
        RawAnswer("client0", COLLECT, "mcload-node", "stats", client),
        RawAnswer("server0", COLLECT, "colocator", "stats", colocator),
        RawAnswer("server0", COLLECT, "supervisor", "host_stats", ended),
    ]


def measurement(
    client: Mapping[str, Any] | None = None,
    colocator: Mapping[str, Any] | None = None,
    **data: Any,
) -> Measurement:
    place = {"aggressor": "Baseline", "load": 0.5, "load_index": 0, "repeat": 0} | data
    answers = answers_of(client or client_stats(), colocator or colocator_stats())
    return read_answers(answers, 0, place, 1.5)
