"""Columns of the table that a run ends with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult
from turntable.systems.farreach import recovery

NAMES = (
    Column("", "workload", "workload", ""),
    Column("", "method", "method", ""),
    Column("", "servers", "servers", "d"),
)

_RATIO, _IMBALANCE = "normalized throughput", "imbalance"
_MEASURED_RATIO = Column(_RATIO, "measured", "normalized_throughput", ".2f", measured=True)
_MEASURED_IMBALANCE = Column(_IMBALANCE, "measured", "imbalance_ratio", ".3f", measured=True)
_AGGREGATE = Column("aggregate", "ops/s", "aggregate_ops_per_s", ",.0f", measured=True)

ROUNDS = (
    Column(_RATIO, "pred.", "predicted_normalized", ".2f"),
    Column(_RATIO, "trace", "trace_normalized", ".2f"),
    Column(_RATIO, "paper", "paper_normalized", ".2f"),
    _MEASURED_RATIO,
    Column(_IMBALANCE, "pred.", "predicted_imbalance", ".3f"),
    Column(_IMBALANCE, "trace", "trace_imbalance", ".3f"),
    Column(_IMBALANCE, "paper", "paper_imbalance", ".3f"),
    _MEASURED_IMBALANCE,
    _AGGREGATE,
)

CELLS = tuple(column for column in ROUNDS if column.head != "pred.")

_RECOVERIES = (
    Column("", "cell", "label", ""),
    Column("", "times", "recoveries", "d"),
    *(Column("phases (ms)", name, name, ".1f") for name in recovery.PHASES),
    Column("phases (ms)", "all", "all", ".1f"),
    Column("records/s", "servers", "server_rate", ",.0f"),
    Column("records/s", "switch", "switch_rate", ",.0f"),
    Column("", "paper", "paper_rate", ",.0f"),
)


def recoveries(cells: Sequence[CellResult]) -> list[Table]:
    """Nothing where nothing was killed."""
    rows = [_recovered(row) for row in recovery.recovered(cells)]
    title = "Recoveries: mean phases; records replayed to servers and switch; paper: to the switch"
    return [Table(title, _RECOVERIES, rows)] if rows else []


def _recovered(row: recovery.Recovered) -> dict[str, Any]:
    def milliseconds(seconds: float | None) -> float | None:
        return None if seconds is None else seconds * 1e3

    phases = dict(zip(recovery.PHASES, map(milliseconds, row.phases_s), strict=True))
    return {
        "label": f"{row.cache_size:,} keys",
        "recoveries": row.recoveries,
        **phases,
        "all": milliseconds(row.total_s),
        "server_rate": row.server_rate,
        "switch_rate": row.switch_rate,
        "paper_rate": row.paper_switch_rate,
    }
