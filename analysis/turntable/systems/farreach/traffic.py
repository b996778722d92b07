"""Tables of what the control plane sends, and of what snapshots cost, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult
from turntable.systems.farreach.bandwidth import Traffic, traffic
from turntable_systems.farreach.methods import answers_everything

_TRAFFIC = (
    Column("", "cell", "label", ""),
    Column("", "period (s)", "period_s", "g"),
    Column("", "snapshots", "snapshots", "d"),
    Column("MiB of one", "messages", "switch_mib", ".2f"),
    Column("MiB of one", "CASE1", "case1_mib", ".2f"),
    Column("KiB/s", "admission, eviction", "others_kib_per_s", ".1f"),
    Column("MiB/s", "by period", "by_period", ".3f"),
    Column("MiB/s", "in real time", "by_elapsed", ".3f"),
    Column("MiB/s", "paper", "paper", ".3f"),
)
_COSTS = (
    Column("", "cell", "label", ""),
    Column("", "period (s)", "period_s", "g"),
    Column("", "hits/s", "hits_per_s", ",.0f"),
    Column("ns per operation", "switch", "switch_ns_per_op", ",.0f"),
    Column("ns per operation", "clients", "client_ns_per_op", ",.0f"),
    Column("", "p99.9 of hits (us)", "hit_latency_p999_us", ",.0f"),
)


def tables(cells: Sequence[CellResult]) -> list[Table]:
    """Nothing where the snapshots' period is not varied."""
    made = []
    if rows := [row_of(one) for one in traffic(cells)]:
        made.append(Table("Control plane: what snapshots and admissions send", _TRAFFIC, rows))
    if costs := [cost_of(cell) for cell in cells if answers_everything(cell.parameters)]:
        made.append(Table("Snapshots where the switch answers everything", _COSTS, costs))
    return made


def row_of(one: Traffic) -> dict[str, Any]:
    cell = one.cell
    return {
        "label": cell.label,
        "period_s": one.period_s,
        "snapshots": one.snapshots,
        "switch_mib": one.switch_mib,
        "case1_mib": one.case1_mib,
        "others_kib_per_s": one.others_kib_per_s,
        "by_period": _measured(cell, "bandwidth_mib_per_s"),
        "by_elapsed": _measured(cell, "bandwidth_elapsed_mib_per_s"),
        "paper": cell.paper["bandwidth_mib_per_s"],
    }


def cost_of(cell: CellResult) -> dict[str, Any]:
    names = ("hits_per_s", "switch_ns_per_op", "client_ns_per_op", "hit_latency_p999_us")
    return {
        "label": cell.label,
        "period_s": cell.parameters["snapshot_period_s"],
        **{name: _measured(cell, name) for name in names},
    }


def _measured(cell: CellResult, column: str) -> float | None:
    found = cell.measured(column)
    return found.mean if found else None
