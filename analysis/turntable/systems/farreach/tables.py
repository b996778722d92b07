"""Columns of the table that a run ends with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult
from turntable.stats import Estimate
from turntable.systems.farreach import gains as _gains
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

# With intervals there is less room.
CELLS = tuple(c for c in ROUNDS if (c.group, c.head) != (_IMBALANCE, "pred."))

_GAINS = (
    Column("", "beside", "label", ""),
    Column("FarReach / other", "paper", "paper", ".2f"),
    Column("FarReach / other", "trace", "trace", ".2f"),
    Column("FarReach / other", "measured", "measured", ">"),
)

_RECOVERIES = (
    Column("", "cell", "label", ""),
    Column("", "times", "recoveries", "d"),
    *(Column("phases (ms)", name, name, ".1f") for name in recovery.PHASES),
    Column("phases (ms)", "all", "all", ".1f"),
    Column("records/s", "servers", "server_rate", ",.0f"),
    Column("records/s", "switch", "switch_rate", ",.0f"),
    Column("", "paper", "paper_rate", ",.0f"),
)


def gains(cells: Sequence[CellResult]) -> list[Table]:
    """Nothing where no other method is beside FarReach."""
    rows = [
        {
            "label": gain.cell.label,
            "paper": gain.paper,
            "trace": gain.trace,
            "measured": gain.gap if gain.measured is None else _interval(gain.measured),
        }
        for gain in _gains.gains(cells)
    ]
    title = "FarReach's gain: its aggregate throughput by that of the other method"
    return [Table(title, _GAINS, rows)] if rows else []


def _interval(value: Estimate) -> str:
    mean = f"{value.mean:.2f}"
    return mean if value.half_width is None else f"{mean} ±{value.half_width:.2f}"


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
