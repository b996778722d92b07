"""How far a steady round is off the replay of its own draws, and whether that is too far: more than
a tenth, and more than chance (docs/netclone.md, Beside the replay).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from turntable.grid import Column, Table
from turntable.histograms import Merged
from turntable.results import CellResult, Row
from turntable.systems.netclone import times
from turntable.systems.netclone.measurement import Clients
from turntable.systems.netclone.shape import Finding
from turntable_systems.netclone import service

_MOST = 0.1
_STANDARD_ERRORS = 3.0  # of chance
# Credits of LAEDGE's that are taken for so much longer make a load of 0.9 one of 0.945. The replay
# has it too, as measured, so nothing else would show it.
_MOST_CREDIT = 0.05

_PERCENTILES = {"p50": 50.0, "p99": 99.0, "p99.9": 99.9}
# Column by what is compared, which is named so in the table.
_COLUMNS = {
    "mean": "off_mean",
    "p50": "off_p50",
    "p99": "off_p99",
    "p99.9": "off_p999",
    "tail": "off_tail",
    "credit": "off_credit",
}
WITHIN = "within"
COLUMNS = (*_COLUMNS.values(), "off_replay")

_STATEMENT = "every steady round is within 10 % of the replay of its own draws, or within chance"


@dataclass(frozen=True)
class _Expected:
    value: float
    low: float  # less is not chance
    high: float


def compared(
    measured: Merged, replay: Merged, parameters: Mapping[str, Any], clients: Clients
) -> Row:
    """By COLUMNS; both undilated. What is not judged is None."""
    row: Row = dict.fromkeys(COLUMNS)
    if not measured.values or not replay.values:
        return row
    tail_us = times.tail_us(parameters)
    outside = []
    for name, expected in _expected(replay, parameters["distribution"], tail_us).items():
        value = _value(measured, name, tail_us)
        row[_COLUMNS[name]] = value / expected.value - 1
        if not expected.low * (1 - _MOST) <= value <= expected.high * (1 + _MOST):
            outside.append(name)
    row["off_credit"] = credit = _off_credit(clients, parameters)
    if credit is not None and credit > _MOST_CREDIT:
        outside.append("credit")
    return row | {"off_replay": " ".join(outside) or WITHIN}


def _off_credit(clients: Clients, parameters: Mapping[str, Any]) -> float | None:
    """How much longer credits were taken than the work and an idle path take, which is that from
    the coordinator to a server and back: half of the clients'.
    """
    if clients.credit_delay_us is None or clients.path_delay_us is None:
        return None
    work_us = service.mean_us(parameters) * parameters["dilation"]
    return (work_us + clients.credit_delay_us) / (work_us + clients.path_delay_us / 2) - 1


def _value(latency: Merged, name: str, tail_us: float) -> float:
    if name in _PERCENTILES:
        return latency.percentile(_PERCENTILES[name]) or 0.0
    return times.share_above(latency, tail_us) if name == "tail" else times.mean_of(latency)


def _expected(replay: Merged, distribution: str, tail_us: float) -> dict[str, _Expected]:
    mean, tail = times.mean_of(replay), times.share_above(replay, tail_us)
    found = {"mean": _Expected(mean, mean, mean)}
    found |= {name: _percentile(replay, percent) for name, percent in _PERCENTILES.items()}
    if tail and times.has_few_values(distribution) and _jumps(replay, _PERCENTILES["p99"]):
        del found["p99"]
        few = _chance(tail * replay.total) if _decides(tail * replay.total) else 0.0
        found["tail"] = _Expected(tail, tail * (1 - few), tail * (1 + few))
    return found


def _percentile(replay: Merged, percent: float) -> _Expected:
    value = replay.percentile(percent) or 0.0
    above = replay.total * (100 - percent) / 100
    low, high = _by_chance(replay, percent) if _decides(above) else (value, value)
    return _Expected(value, low, high)


def _jumps(replay: Merged, percent: float) -> bool:
    """Between two values, so that chance alone moves the percentile by more than is allowed."""
    low, high = _by_chance(replay, percent)
    return high > low * (1 + _MOST)


def _by_chance(replay: Merged, percent: float) -> tuple[float, float]:
    """Where the percentile of so many independent latencies lies."""
    error = _STANDARD_ERRORS * sqrt(percent * (100 - percent) / replay.total)
    low, high = replay.percentile(percent - error), replay.percentile(min(100, percent + error))
    return low or 0.0, high or 0.0


def _chance(requests: float) -> float:
    """By how much of itself a number of requests scatters."""
    return _STANDARD_ERRORS / sqrt(requests)


def _decides(requests: float) -> bool:
    """Chance, more than what is allowed beside it."""
    return _chance(requests) > _MOST


def finding(rows: Sequence[Mapping[str, Any]]) -> Finding:
    """rows: of summary.csv, of valid rounds."""
    judged = [row for row in rows if row["off_replay"] is not None]
    outside = tuple(map(_words, filter(_is_outside, judged)))
    return Finding(_STATEMENT, not outside if judged else None, outside)


def _is_outside(row: Mapping[str, Any]) -> bool:
    return bool(row["off_replay"] != WITHIN)


def _words(row: Mapping[str, Any]) -> str:
    off = (f"{name} {row[_COLUMNS[name]]:+.0%}" for name in row["off_replay"].split())
    return f"{row['method']}, {row['distribution']} at load {row['load']:g}: {', '.join(off)}"


def table(cells: Sequence[CellResult]) -> list[Table]:
    """A row for every valid round that is steady."""
    rows = [
        turn.row | {"label": cell.label.replace(" · ", ", ")}
        for cell in cells
        for turn in cell.counted
        if turn.row["off_replay"] is not None
    ]
    columns = (
        Column("", "cell", "label", ""),
        Column("", "round", "round", "d"),
        *(Column("off the replay", name, key, "+.1%") for name, key in _COLUMNS.items()),
        Column("", "10 %", "off_replay", ""),
    )
    title = (
        "Deviation from the replay of the same draws; tail: the share of latencies above tail_us, "
        "where p99 jumps by chance; credit: how much longer than work and idle path one was taken"
    )
    return [Table(title, columns, rows)] if rows else []
