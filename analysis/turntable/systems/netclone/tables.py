"""Columns of the table that a run ends with, and peak throughput."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult
from turntable.systems.netclone.peaks import LOSSES, peaks
from turntable.systems.netclone.saturation import STEADY
from turntable.systems.netclone.summary import SHARES

_LOAD = "load (undilated)"
ROUNDS = (
    Column(_LOAD, "offered/s", "offered_rps", ",.0f"),
    Column(_LOAD, "delivered/s", "delivered_rps", ",.0f"),
    Column("p99 (µs)", "pred.", "predicted_p99_us", ",.0f"),
    Column("p99 (µs)", "trace", "trace_p99_us", ",.0f"),
    Column("p99 (µs)", "measured", "shown_p99_us", ",.0f", measured=True),
    Column("cloned", "trace", "trace_clone_rate", ".2f"),
    Column("cloned", "measured", "clone_rate", ".2f", measured=True),
    Column("", "state", "state", ""),
)
CELLS = (
    Column(_LOAD, "delivered/s", "delivered_rps", ",.0f", measured=True),
    Column("latency (µs)", "mean", "shown_mean_us", ",.1f", measured=True),
    Column("p99 (µs)", "pred.", "predicted_p99_us", ",.0f"),
    Column("", "cloned", "clone_rate", ".2f", measured=True),
)

_TAILS = {"p50": 50, "p99": 99, "p99.9": 99.9}
_LATENCY = (
    Column("", "cell", "label", ""),
    *(
        Column(f"{name} (µs)", head, f"{key}_{name}", ",.1f")
        for name in _TAILS
        for head, key in (("trace", "trace"), ("measured", "measured"))
    ),
)

_CLONES = (
    Column("", "cell", "label", ""),
    Column("requests (share)", "cloned", "clone_rate", ".3f"),
    Column("requests (share)", "answered twice", "redundant_share", ".4f"),
    Column("clones (share)", "dropped", "clones_dropped_share", ".3f"),
    Column("reports of an empty queue", "share", "empty_share", ".3f"),
    Column("reports of an empty queue", "true", "empty_true_share", ".3f"),
)
_CLOSED_FORM = (
    Column("", "cell", "label", ""),
    *(
        Column(f"{name} (µs)", head, f"{key}_{name}", ",.1f")
        for name in ("p50", "p99")
        for head, key in (("M/M/W", "theory"), ("trace", "trace"), ("measured", "measured"))
    ),
)
_PEAKS = (
    Column("", "method", "method", ""),
    Column("", "distribution", "distribution", ""),
    Column("", "servers", "servers", ""),
    *(Column("peak throughput (1/s)", f"loss {most:.0%}", name, ",.0f") for name, most in LOSSES),
    Column("", "of offered loads up to", "highest", ",.0f"),
)


def peak_table(cells: Sequence[CellResult]) -> list[Table]:
    rows: list[dict[str, Any]] = peaks(cells)
    title = "Highest delivered throughput, undilated, among the loads with at most so much loss"
    return [Table(title, _PEAKS, rows)] if rows else []


def latency_table(cells: Sequence[CellResult]) -> list[Table]:
    """Of cells that are not saturated."""
    rows = [
        {"label": cell.label.replace(" · ", ", ")} | _beside_replay(cell)
        for cell in cells
        if _is_steady(cell)
    ]
    title = "Latency of all valid rounds, undilated, beside the replay of the same requests"
    return [Table(title, _LATENCY, rows)] if rows else []


def _beside_replay(cell: CellResult) -> dict[str, float | None]:
    row = {}
    for name, percent in _TAILS.items():
        row[f"trace_{name}"] = cell.predicted(f"trace_{name.replace('.', '')}_us")
        row[f"measured_{name}"] = _measured_us(cell, percent)
    return row


def _is_steady(cell: CellResult) -> bool:
    return bool(cell.counted) and all(turn.row["state"] == STEADY for turn in cell.counted)


def _measured_us(cell: CellResult, percent: float) -> float | None:
    measured = cell.latency.percentile(percent)
    return None if measured is None else measured / cell.parameters["dilation"]


def clone_table(cells: Sequence[CellResult]) -> list[Table]:
    """Of methods that clone, and are not saturated."""
    rows = [
        {"label": cell.label.replace(" · ", ", ")} | {name: _mean(cell, name) for name in SHARES}
        for cell in cells
        if cell.parameters["method"] != "noclone" and _is_steady(cell)
    ]
    title = "Clones; an empty queue is reported truly where a worker was free besides"
    return [Table(title, _CLONES, rows)] if rows else []


def _mean(cell: CellResult, name: str) -> float | None:
    result = cell.measured(name)
    return result.mean if result else None


def closed_form_table(cells: Sequence[CellResult]) -> list[Table]:
    """Of cells of which queueing theory has a closed form."""
    rows = [
        {"label": cell.label.replace(" · ", ", ")} | _beside_theory(cell)
        for cell in cells
        if cell.predicted("closed_form_p99_us") is not None
    ]
    title = "Beside the closed form of M/M/W, which knows no delay of a path"
    return [Table(title, _CLOSED_FORM, rows)] if rows else []


def _beside_theory(cell: CellResult) -> dict[str, float | None]:
    row = {}
    for name, percent in (("p50", 50), ("p99", 99)):
        row[f"theory_{name}"] = cell.predicted(f"closed_form_{name}_us")
        row[f"trace_{name}"] = cell.predicted(f"trace_{name}_us")
        row[f"measured_{name}"] = _measured_us(cell, percent)
    return row
