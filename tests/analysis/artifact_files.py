"""Statistics files as FarReach's artifact writes them: JSON arrays, an object per iteration or
second and client machine, with histograms of 10,000 buckets of 1 µs.

ROTATION: operations of both client machines together, half of them each, in windows of 10 s. By
iteration: of the bottleneck, partition 3, by servers and switch; of the rotated one, the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BUCKETS = 10_000
SERVERS = 4
WINDOW_MS = 10_000
BOTTLENECK = 3
# Iteration 1's servers were faster by 5 %, and in all it served partition 0 as much as 3.
ROTATION: Mapping[str, tuple[tuple[int, int], tuple[int, int] | None]] = {
    "server-3": ((400_000, 200_000), None),
    "server-3-0": ((420_000, 210_000), (420_000, 84_000)),
    "server-3-1": ((400_000, 200_000), (380_000, 100_000)),
    "server-3-2": ((380_000, 190_000), (361_000, 38_000)),
}
SERVER_US, SWITCH_US = 100, 10  # every operation's latency, by who answered


def rotation(client: int) -> list[dict[str, Any]]:
    del client  # both measured the same
    return [_static(strid, *counts) for strid, counts in ROTATION.items()]


def _static(strid: str, bottleneck: tuple[int, int], rotated: tuple[int, int] | None) -> Any:
    counted = {BOTTLENECK: bottleneck}
    if rotated:
        counted[int(strid.split("-")[2])] = rotated
    half = {p: (server // 2, switch // 2) for p, (server, switch) in counted.items()}
    return statistics(strid, half, SERVERS, WINDOW_MS)


def statistics(
    strid: str, counted: Mapping[int, tuple[int, int]], servers: int, window_ms: int
) -> dict[str, Any]:
    """counted: by partition that ran, operations answered by its server and by the switch."""
    server = [counted[p][0] if p in counted else 0 for p in range(servers)]
    switch = [counted[p][1] if p in counted else 0 for p in range(servers)]
    return {
        "strid": strid,
        "totalOpsdone": sum(server) + sum(switch),
        "perserverOpsdone": server,
        "perserverCachehits": switch,
        "executionMillis": window_ms,
        **_latencies("perserverCachehit", [counted[p][1] for p in counted], SWITCH_US),
        **_latencies("perserverCachemiss", [counted[p][0] for p in counted], SERVER_US),
    }


def _latencies(prefix: str, counts: Sequence[int], us: int) -> dict[str, Any]:
    histograms = [[0] * BUCKETS for _ in counts]
    for histogram, count in zip(histograms, counts, strict=True):
        histogram[us] = count
    return {
        f"{prefix}TotalLatency": [us * count for count in counts],
        f"{prefix}TotalLatencynum": list(counts),
        f"{prefix}TotalHistogram": histograms,
    }


def seconds(length: int, dips: Mapping[int, float]) -> list[dict[str, Any]]:
    """Of one client machine, two servers: 50,000 and 40,000 operations by servers in each second
    together, 60,000 by the switch of either; so much of what the switch answers is missing in some.
    """
    made = []
    for second in range(length):
        by_switch = round(30_000 * (1 - dips.get(second, 0.0)))
        counted = {0: (25_000, by_switch), 1: (20_000, by_switch)}
        made.append(statistics(f"sec-{second}", counted, 2, 1000))
    return made


def write(file: Path, objects: Any) -> Path:
    """An object per line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("[" + ",\n".join(json.dumps(one) for one in objects) + "]")
    return file


def write_rotation(
    directory: Path, method: str = "farreach", workload: str = "workloada"
) -> tuple[Path, Path]:
    """Files of both client machines."""
    place = directory / f"{workload}-statistics"
    return tuple(
        write(place / f"{method}-static{SERVERS}-client{client}.out", rotation(client))
        for client in (0, 1)
    )
