"""Latency by target throughput: what was measured, what is predicted, what was published."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntable.grid import Column, Table
from turntable.histograms import PERCENTILES
from turntable.results import CellResult
from turntable.stats import Estimate
from turntable.systems.farreach.state import PACED, STEADY
from turntable_systems.farreach.offered import is_open

SHOWN = ("mean", "p50", "p90", "p95", "p99")
PUBLISHED = ("mean", "p50", "p90", "p95")


@dataclass(frozen=True)
class Target:
    """A cell whose load was given."""

    cell: CellResult
    method: str
    share: float | None  # of the method's maximum; None: the target is one in ops/s
    target_ops_per_s: float | None
    state: str | None
    gap: str | None  # why there is no result, in a word
    latency_us: Mapping[str, float | None]  # by SHOWN; empty values where the cell is saturated
    predicted_mean_us: float | None
    paper_us: Mapping[str, float | None]  # by PUBLISHED, for exactly these parameters
    path_us: float | None
    load: float | None  # of the bottleneck's server
    wait_us: Estimate | None  # ... and the wait there
    predicted_wait_us: float | None
    offered_ops_per_s: float | None
    delivered_share: float | None


@dataclass(frozen=True)
class Published:
    """Of one method and target, in the paper's own units."""

    method: str
    target_ops_per_s: float
    share: float | None  # of what the method reached unthrottled
    latency_us: Mapping[str, float]


def targets(cells: Sequence[CellResult]) -> list[Target]:
    return [_target(cell) for cell in cells if is_open(cell.parameters)]


def closed(cells: Sequence[CellResult]) -> list[CellResult]:
    return [cell for cell in cells if not is_open(cell.parameters)]


def maxima(cells: Sequence[CellResult]) -> Mapping[str, float]:
    """What methods reached in closed loops beside, measured."""
    rates = {
        cell.parameters["method"]: cell.measured("absolute_ops_per_s") for cell in closed(cells)
    }
    return {method: rate.mean for method, rate in rates.items() if rate is not None}


def _target(cell: CellResult) -> Target:
    states = {turn.row["state"] for turn in cell.counted}
    state = None if not states else STEADY if states == {STEADY} else (states - {STEADY}).pop()
    steady = state == STEADY
    shown = state in (STEADY, PACED)
    mean = cell.measured("latency_mean_us")
    latency = {"mean": mean.mean if mean else None} | {
        name: cell.latency.percentile(PERCENTILES[name]) for name in SHOWN[1:]
    }
    return Target(
        cell=cell,
        method=cell.parameters["method"],
        share=cell.parameters.get("target_share"),
        target_ops_per_s=cell.predicted("target_ops_per_s"),
        state=state,
        gap=cell.gap,
        latency_us={name: value if shown else None for name, value in latency.items()},
        predicted_mean_us=cell.predicted("predicted_latency_mean_us"),
        paper_us={name: cell.paper.get(f"latency_{name}_us") for name in PUBLISHED},
        path_us=_mean(cell, "path_us"),
        load=cell.predicted("busiest_load"),
        wait_us=cell.measured("wait_us") if steady else None,
        predicted_wait_us=cell.predicted("predicted_wait_us"),
        offered_ops_per_s=_mean(cell, "offered_ops_per_s"),
        delivered_share=_mean(cell, "delivered_share"),
    )


def _mean(cell: CellResult, column: str) -> float | None:
    value = cell.measured(column)
    return value.mean if value else None


def published(reference: Path | None) -> list[Published]:
    """Rows of the table of published numbers that have a target."""
    if reference is None:
        return []
    with reference.open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row.get("target_ops_per_s")]
    values = {
        (row["method"], float(row["target_ops_per_s"]), row["metric"]): float(row["value"])
        for row in rows
    }
    made = []
    for method, target in dict.fromkeys(key[:2] for key in values):
        latency = {
            name: values[method, target, f"latency_{name}_us"]
            for name in PUBLISHED
            if (method, target, f"latency_{name}_us") in values
        }
        most = values.get((method, 0.0, "aggregate_ops_per_s"))
        if latency:
            made.append(Published(method, target, target / most if most else None, latency))
    return made


_COLUMNS = (
    Column("", "cell", "label", ""),
    Column("", "state", "state", ""),
    *(Column("latency (µs)", name, name, ",.0f") for name in SHOWN),
    Column("latency (µs)", "mean pred.", "predicted_mean", ",.0f"),
    Column("busiest server", "load", "load", ".2f"),
    Column("busiest server", "wait", "wait", ",.0f"),
    Column("busiest server", "M/D/1", "predicted_wait", ",.0f"),
    Column("", "path (µs)", "path", ",.0f"),
)


def tables(cells: Sequence[CellResult]) -> list[Table]:
    """Nothing where all loops are closed."""
    rows = [_row(target) for target in targets(cells)]
    title = (
        "Latency from the intended instants, below saturation; wait (µs) of requests at the "
        "busiest partition's server"
    )
    return [Table(title, _COLUMNS, rows)] if rows else []


def _row(target: Target) -> dict[str, Any]:
    return {
        "label": target.cell.label,
        "state": target.gap or target.state,
        **target.latency_us,
        "predicted_mean": target.predicted_mean_us,
        "load": target.load,
        "wait": target.wait_us.mean if target.wait_us else None,
        "predicted_wait": target.predicted_wait_us,
        "path": target.path_us,
    }
