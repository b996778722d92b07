"""Throughput of every second of an iteration, from the clients' raw `seconds` rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

# A window is never a whole number of seconds to the nanosecond. What is left after the last full
# one is too short for a rate.
SHORTEST_S = 0.5


@dataclass(frozen=True)
class Second:
    second: int  # 0 is the first of the window
    ops_per_s: Mapping[int, float]  # by partition, of servers and switch together


def read_seconds(clients: Sequence[Mapping[str, Any]]) -> tuple[Second, ...]:
    """clients: `stats` of every client machine (docs/raw-format.md)."""
    window_s = fmean(client["window_ns"] for client in clients) / 1e9
    rows = [row for client in clients for row in client["seconds"]]
    result = []
    for second in sorted({row["second"] for row in rows}):
        length_s = min(1.0, window_s - second)
        if second == 0 or length_s >= SHORTEST_S:
            here = [row for row in rows if row["second"] == second]
            result.append(Second(second, _rates(here, length_s)))
    return tuple(result)


def _rates(rows: Iterable[Mapping[str, Any]], length_s: float) -> dict[int, float]:
    operations: dict[int, int] = {}
    for row in rows:
        for entry in row["partitions"]:
            count = entry["server_ops"] + entry["switch_ops"]
            operations[entry["partition"]] = operations.get(entry["partition"], 0) + count
    return {partition: count / length_s for partition, count in operations.items()}
