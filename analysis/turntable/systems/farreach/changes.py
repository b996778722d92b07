"""Tables of what happened at changes of popularity, for terminal and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult
from turntable.systems.farreach.dynamic import Played, played, returned_within, seconds_of
from turntable_systems.farreach import popularity

_COLUMNS = (
    Column("", "cell", "label", ""),
    Column("", "round", "round", "d"),
    Column("", "change", "period", "d"),
    Column("", "at (s)", "at_s", ".1f"),
    Column("normalized", "before", "before", ".2f", measured=True),
    Column("normalized", "lowest", "lowest", ".2f", measured=True),
    Column("normalized", "expected again", "level", ".2f", measured=True),
    Column("fall (%)", "first moment, pred.", "predicted_dip", ".1f"),
    Column("fall (%)", "lowest second", "dip", ".1f", measured=True),
    Column("", "back after (s)", "return_s", "d", measured=True),
    Column("hot threshold", "used", "hot_threshold", "d"),
    Column("hot threshold", "at this rate", "at_rate", ".2f"),
)


def tables(cells: Sequence[CellResult]) -> list[Table]:
    """Nothing where popularity stays as it is."""
    rows = [row_of(one) for one in played(cells)]
    title = "Changes of popularity: normalized throughput by the second"
    return [Table(title, _COLUMNS, rows)] if rows else []


def row_of(one: Played) -> dict[str, Any]:
    change = one.change
    return {
        "label": one.cell.label,
        "round": one.row["round"],
        "verdict": one.row["verdict"],  # an invalid round is a gap
        "hot_threshold": one.row["hot_threshold"],
        "at_rate": one.row["hot_threshold_at_rate"],
        "period": change.period,
        "at_s": change.at_s,
        "before": change.before,
        "lowest": change.lowest,
        "level": change.level,
        "predicted_dip": _percent(change.predicted_dip),
        "dip": _percent(change.dip),
        "return_s": change.return_s,
    }


def _thresholds(cells: Sequence[CellResult]) -> str:
    """`2 (1.5 at the measured rate)`, of every cell that admits keys, each once."""
    texts = []
    for row in (turn.row for cell in cells for turn in cell.shown):
        if row["hot_threshold"] is not None:
            at_rate = row["hot_threshold_at_rate"]
            texts.append(f"{row['hot_threshold']:.0f} ({at_rate:.1f} at the measured rate)")
    return ", ".join(dict.fromkeys(texts))


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def variables(cells: Sequence[CellResult]) -> Mapping[str, Any]:
    """Of the report's partial."""
    dynamic = [cell for cell in cells if popularity.is_played(cell.parameters)]
    return {
        "changes": [row_of(one) for one in played(cells)],
        "returned_within": returned_within(cells[0].run.plan.validity) if cells else 0,
        "thresholds": _thresholds(dynamic),
        "every_second": [(cell, seconds_of(cell)) for cell in dynamic if seconds_of(cell)],
    }
