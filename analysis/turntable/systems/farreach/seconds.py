"""What every second of an iteration shows, from the clients' raw `seconds` rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

# A window is never a whole number of seconds to the nanosecond. What is left after the last full
# one is too short for a rate.
SHORTEST_S = 0.5


@dataclass(frozen=True)
class Second:
    """Rates by partition, in operations per second."""

    second: int  # 0 is the first of the window
    ops_per_s: Mapping[int, float]  # of servers and switch together
    server_ops_per_s: Mapping[int, float] = field(default_factory=dict)
    latency_mean_us: Mapping[int, float | None] = field(default_factory=dict)
    latency_max_us: Mapping[int, float | None] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.ops_per_s.values())

    @property
    def normalized(self) -> float | None:
        """Of this second alone: throughput in units of its busiest server's."""
        busiest = max(self.server_ops_per_s.values(), default=0.0)
        return self.total / busiest if busiest > 0 else None

    @property
    def imbalance(self) -> float | None:
        """Busiest over idlest server; None when one served nothing."""
        rates = self.server_ops_per_s.values()
        return max(rates) / min(rates) if rates and min(rates) > 0 else None


def read_seconds(clients: Sequence[Mapping[str, Any]]) -> tuple[Second, ...]:
    """clients: `stats` of every client machine (docs/raw-format.md)."""
    window_s = fmean(client["window_ns"] for client in clients) / 1e9
    rows = [row for client in clients for row in client["seconds"]]
    result = []
    for second in sorted({row["second"] for row in rows}):
        length_s = min(1.0, window_s - second)
        if second == 0 or length_s >= SHORTEST_S:
            here = [entry for row in rows if row["second"] == second for entry in row["partitions"]]
            result.append(_second(second, here, length_s))
    return tuple(result)


def _second(second: int, rows: Sequence[Mapping[str, Any]], length_s: float) -> Second:
    of = {row["partition"]: [r for r in rows if r["partition"] == row["partition"]] for row in rows}
    server = {partition: _sum(mine, "server_ops") for partition, mine in of.items()}
    every = {p: server[p] + _sum(mine, "switch_ops") for p, mine in of.items()}
    return Second(
        second,
        {partition: count / length_s for partition, count in every.items()},
        {partition: count / length_s for partition, count in server.items()},
        {
            p: _sum(mine, "latency_sum_ns") / 1e3 / every[p] if every[p] else None
            for p, mine in of.items()
        },
        {p: max(r.get("latency_max_ns", 0) for r in mine) / 1e3 for p, mine in of.items()},
    )


def _sum(rows: Iterable[Mapping[str, Any]], field_: str) -> int:
    return sum(row.get(field_, 0) for row in rows)
