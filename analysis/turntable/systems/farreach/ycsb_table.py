"""YCSB beside kvclient: one row per cell, both on the same testbed."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult
from turntable.systems.farreach.measurement import Measurement
from turntable_systems.farreach import ycsb
from turntable_systems.farreach.methods import caches, fits_a_slot

_KINDS = ("READ", "UPDATE", "INSERT")
_OWN = "YCSB's own (µs, its run phase)"
_COLUMNS = (
    Column("", "workload", "workload", ""),
    Column("", "method", "method", ""),
    Column("", "record", "record", ">"),
    Column("", "client", "client", ""),
    Column("", "cacheable", "cacheable", ""),
    Column("requests", "per s", "requests_per_s", ",.0f"),
    Column("requests", "by switch", "by_switch", ".1%"),
    Column("latency (µs)", "mean", "mean_us", ",.0f"),
    Column("latency (µs)", "p50", "p50_us", ",.0f"),
    Column("latency (µs)", "p99", "p99_us", ",.0f"),
    Column("", "YCSB: ops/s", "ycsb_ops_per_s", ",.0f"),
    *(
        Column(_OWN, f"{kind.lower()} {what}", f"{kind}_{what}", ",.0f")
        for kind in _KINDS
        for what in ("mean", "p95", "p99")
    ),
    Column("", "failed", "failed", "d"),
)


def tables(cells: Sequence[CellResult]) -> list[Table]:
    """Nothing where YCSB sent nothing."""
    if not any(ycsb.drives(cell.parameters) for cell in cells):
        return []
    rows = [row for cell in cells if (row := _row(cell)) is not None]
    return [Table("YCSB beside kvclient", _COLUMNS, rows)] if rows else []


def _row(cell: CellResult) -> dict[str, Any] | None:
    measurements = [m for turn in cell.counted for m in turn.measurements]
    if not measurements:
        return None
    return {
        "workload": cell.parameters["workload"],
        "method": cell.parameters["method"],
        "record": cell.parameters["record"],
        "client": cell.parameters.get("client", ycsb.KVCLIENT),
        "cacheable": _cacheable(cell),
        "requests_per_s": fmean(m.ops_per_s for m in measurements),
        "by_switch": _by_switch(measurements),
        **{f"{name}_us": _latency(cell, name) for name in ("mean", "p50", "p99")},
        **_own(measurements),
    }


def _cacheable(cell: CellResult) -> str:
    if not caches(cell.parameters):
        return "no cache"
    return "yes" if fits_a_slot(cell.parameters) else "never"


def _by_switch(measurements: Sequence[Measurement]) -> float | None:
    clients = [client for m in measurements for client in m.clients.values()]
    by_switch = sum(client.switch_ops for client in clients)
    answered = by_switch + sum(client.server_ops for client in clients)
    return by_switch / answered if answered else None


def _latency(cell: CellResult, name: str) -> float | None:
    estimate = cell.measured(f"latency_{name}_us")
    return None if estimate is None else estimate.mean


def _own(measurements: Sequence[Measurement]) -> dict[str, float | None]:
    """What YCSB itself says; empty for kvclient."""
    said = [m.ycsb for m in measurements if m.ycsb is not None]
    row: dict[str, float | None] = {
        "ycsb_ops_per_s": fmean(one.ops_per_s for one in said) if said else None,
        "failed": sum(sum(one.failed.values()) for one in said) if said else None,
    }
    for kind in _KINDS:
        of_kind = [one.operations[kind] for one in said if kind in one.operations]
        for what in ("mean", "p95", "p99"):
            values = [getattr(operation, f"{what}_us") for operation in of_kind]
            row[f"{kind}_{what}"] = fmean(values) if values else None
    return row
