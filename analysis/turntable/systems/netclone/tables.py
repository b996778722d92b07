"""Columns of the table that a run ends with, and peak throughput."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult
from turntable.systems.netclone.peaks import LOSSES, peaks

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
    Column("", "cloned", "clone_rate", ".2f", measured=True),
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
