"""Columns of the table that a run ends with, and peak throughput."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from turntable.grid import MISSING, Column, Table
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
    Column("p99 (µs)", "trace", "trace_p99_us", ",.0f"),
    Column("p99 (µs)", "measured", "shown_p99_us", ",.0f", measured=True),
    Column("", "cloned", "clone_rate", ".2f", measured=True),
)

_PERCENTILES = {"p50": 50, "p99": 99, "p99.9": 99.9}
_TRACE_AND_MEASURED = (("trace", "trace"), ("measured", "measured"))


def _times(names: Sequence[str], kinds: Sequence[tuple[str, str]]) -> Sequence[Column]:
    """kinds: head and key, as _row_of_times() has them."""
    return (
        Column("", "cell", "label", ""),
        *(
            Column(f"{name} (µs)", head, f"{key}_{name}", ",.1f")
            for name in names
            for head, key in kinds
        ),
    )


_LATENCY = _times(("p50", "p99", "p99.9"), _TRACE_AND_MEASURED)
_CLOSED_FORM = _times(("p50", "p99"), (("M/M/W", "closed_form"), *_TRACE_AND_MEASURED))
_CLONES = (
    Column("", "cell", "label", ""),
    Column("requests (share)", "cloned", "clone_rate", ".3f"),
    Column("requests (share)", "answered twice", "redundant_share", ".4f"),
    Column("clones (share)", "dropped", "clones_dropped_share", ".3f"),
    Column("reports of an empty queue", "share", "empty_share", ".3f"),
    Column("reports of an empty queue", "true", "empty_true_share", ".3f"),
)
_PEAKS = (
    Column("", "method", "line", ""),
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
    title = "Latency of all valid rounds, undilated, beside the replay of the same requests"
    return _table(title, _LATENCY, filter(_is_steady, cells))


def closed_form_table(cells: Sequence[CellResult]) -> list[Table]:
    """Of cells of which queueing theory has a closed form."""
    title = "Beside the closed form of M/M/W, which knows no delay of a path"
    known = (cell for cell in cells if cell.predicted("closed_form_p99_us") is not None)
    return _table(title, _CLOSED_FORM, known)


def _table(title: str, columns: Sequence[Column], cells: Iterable[CellResult]) -> list[Table]:
    rows = [_row_of_times(cell) for cell in cells]
    return [Table(title, columns, rows)] if rows else []


def _row_of_times(cell: CellResult) -> dict[str, Any]:
    row: dict[str, Any] = _labelled(cell)
    for name, percent in _PERCENTILES.items():
        for kind in ("trace", "closed_form"):
            row[f"{kind}_{name}"] = cell.predicted(f"{kind}_{name.replace('.', '')}_us")
        row[f"measured_{name}"] = _measured_us(cell, percent)
    return row


def _labelled(cell: CellResult) -> dict[str, Any]:
    return {"label": cell.label.replace(" · ", ", ")}


def _is_steady(cell: CellResult) -> bool:
    return bool(cell.counted) and all(turn.row["state"] == STEADY for turn in cell.counted)


def _measured_us(cell: CellResult, percent: float) -> float | None:
    measured = cell.latency.percentile(percent)
    return None if measured is None else measured / cell.parameters["dilation"]


def clone_table(cells: Sequence[CellResult]) -> list[Table]:
    """Of methods that clone, and are not saturated."""
    rows = [
        _labelled(cell) | {name: _mean(cell, name) for name in SHARES}
        for cell in cells
        if cell.parameters["method"] != "noclone" and _is_steady(cell)
    ]
    title = "Clones; an empty queue is reported truly where a worker was free besides"
    if any(row["empty_share"] and row["empty_true_share"] is None for row in rows):
        title += f" ({MISSING}: of servers with one worker, which has none besides)"
    return [Table(title, _CLONES, rows)] if rows else []


def _mean(cell: CellResult, name: str) -> float | None:
    result = cell.measured(name)
    return result.mean if result else None
