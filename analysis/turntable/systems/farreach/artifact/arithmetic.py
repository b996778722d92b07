"""Throughput and latency as the artifact's own scripts print them, beside ours: what somebody has
in their old logs, and why it differs (docs/import.md).

Their rates are whole operations per millisecond: the rest is cut off (integer division of
Python 2). Latencies are those of histograms, whose last bucket stands for all that is longer, and a
rotated partition's histogram is not scaled with the bottleneck's drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from statistics import fmean
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult, TurnResult
from turntable.systems.farreach.measurement import Bucketed, Measurement
from turntable_systems.farreach import popularity
from turntable_systems.farreach.rotation import pair_text, partitions_of


@dataclass(frozen=True)
class Printed:
    """None: the scripts have no such number, or none that means anything."""

    mops: float | None
    normalized: float | None = None
    latency_us: float | None = None
    clamped: float | None = None  # share of the operations, in the last bucket


def rows(cells: Sequence[CellResult]) -> list[dict[str, Any]]:
    """A row per round that was imported."""
    return [_row(cell, turn) for cell in cells for turn in cell.turns if cell.run.imported]


def _row(cell: CellResult, turn: TurnResult) -> dict[str, Any]:
    printed = as_printed(turn) if turn.complete else Printed(None)
    rate = turn.row["aggregate_ops_per_s"]
    return {
        "label": cell.label,
        "round": turn.round,
        "missing": _missing(turn),
        "mops": printed.mops,
        "mops_here": None if rate is None else rate / 1e6,
        "normalized": printed.normalized,
        "normalized_here": turn.row["normalized_throughput"],
        "latency_us": printed.latency_us,
        "latency_here_us": turn.row["latency_mean_us"],
        "clamped": None if printed.clamped is None else 100 * printed.clamped,
    }


def _missing(turn: TurnResult) -> str | None:
    """`14+3, 14+9`: the partitions of these iterations."""
    if not turn.measurements:
        return "all"
    absent = (partitions_of(turn.turn.iterations[index]) for index in turn.missing)
    return ", ".join(map(pair_text, absent)) or None


def as_printed(turn: TurnResult) -> Printed:
    """Of a complete round."""
    if popularity.is_played(turn.parameters):
        return _of_seconds(turn.measurements)
    return _of_rotation(turn.measurements)


def _of_seconds(measurements: Sequence[Measurement]) -> Printed:
    """The plain mean of the seconds. Their mean latency is 0, by a mistake in a loop's bound."""
    seconds = [second for one in measurements for second in one.each_second]
    kops = [floor(second.total / 1e3) for second in seconds]
    return Printed(fmean(kops) / 1e3 if kops else None)


def _of_rotation(measurements: Sequence[Measurement]) -> Printed:
    """X: operations of a partition, S: of them those of its server, per millisecond."""
    x = [[_per_ms(one, p, hits=True) for p in one.partitions] for one in measurements]
    s = [[_per_ms(one, p, hits=False) for p in one.partitions] for one in measurements]
    mean_x, mean_s = (fmean(rates[0] for rates in every) for every in (x, s))
    if any(rates[0] == 0 for rates in (*x, *s)):
        return Printed(None)  # a bottleneck below 1,000 operations per second: nothing to scale by
    total = mean_x + sum(rates[1] * mean_x / rates[0] for rates in x if len(rates) > 1)
    busiest = max(mean_s, *(rates[1] * mean_s / rates[0] for rates in s if len(rates) > 1))
    latency_us, clamped = _latency(measurements)
    return Printed(total / 1e3, total / busiest, latency_us, clamped)


def _per_ms(measurement: Measurement, partition: int, *, hits: bool) -> int:
    client = measurement.clients[partition]
    operations = client.server_ops + (client.switch_ops if hits else 0)
    return floor(operations / (measurement.seconds * 1e3))


def _latency(measurements: Sequence[Measurement]) -> tuple[float | None, float | None]:
    """The bottleneck's histograms are averaged over the iterations, the others added to that."""
    weighted: list[tuple[Bucketed, float]] = []
    for one in measurements:
        bottleneck, *rotated = (one.bucketed[partition] for partition in one.partitions)
        weighted.append((bottleneck, 1 / len(measurements)))
        weighted += [(bucketed, 1.0) for bucketed in rotated]
    count = sum(bucketed.count * weight for bucketed, weight in weighted)
    if not count:
        return None, None
    sum_us = sum(bucketed.sum_us * weight for bucketed, weight in weighted)
    clamped = sum(bucketed.clamped * weight for bucketed, weight in weighted)
    return sum_us / count, clamped / count


_COLUMNS = (
    Column("", "cell", "label", ""),
    Column("", "round", "round", "d"),
    Column("aggregate (MOPS)", "artifact", "mops", ".3f"),
    Column("aggregate (MOPS)", "here", "mops_here", ".3f"),
    Column("normalized", "artifact", "normalized", ".2f"),
    Column("normalized", "here", "normalized_here", ".2f"),
    Column("mean latency (µs)", "artifact", "latency_us", ",.1f"),
    Column("mean latency (µs)", "here", "latency_here_us", ",.1f"),
    Column("", "missing", "missing", ""),
)


def tables(cells: Sequence[CellResult]) -> list[Table]:
    """Nothing where nothing was imported."""
    found = rows(cells)
    title = "Imported: as the artifact's scripts compute it, and as it is computed here"
    return [Table(title, _COLUMNS, found)] if found else []
