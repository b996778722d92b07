"""What this machine can show: short pieces of work on its processors, alone and beside others,
before every turn; and whether the machine stayed the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult
from turntable.systems.swan.measurement import Measurement

_TITLE = "Probe of the machine before every turn"
_COLUMNS = (
    Column("", "work", "what", ""),
    Column("", "unit", "unit", ""),
    Column("", "first turn", "first", ",.1f"),
    Column("all turns", "least", "least", ",.1f"),
    Column("all turns", "most", "most", ",.1f"),
    Column("", "drift", "drift", ".0%"),
)


def drifted(cells: Sequence[CellResult]) -> list[Table]:
    """The same where the machine changed more than validity allows: for a terminal."""
    return [table for table in probe_tables(cells) if table.title != _TITLE]


def probe_tables(cells: Sequence[CellResult]) -> list[Table]:
    """Empty where no turn was probed. Drift: most over least, less 1."""
    found: dict[tuple[str, str, bool], list[float]] = {}
    for one in _first_of_turns(cells):
        for row in one.probe:
            found.setdefault((row.what, row.unit, row.is_of_processor), []).append(row.value)
    rows = [
        {
            "what": what,
            "unit": unit,
            "first": values[0],
            "least": min(values),
            "most": max(values),
            "is_of_processor": is_of_processor,
            "drift": max(values) / min(values) - 1 if min(values) > 0 else None,
        }
        for (what, unit, is_of_processor), values in found.items()
    ]
    return [Table(_title(cells, rows), _COLUMNS, rows)] if rows else []


def _title(cells: Sequence[CellResult], rows: Sequence[Mapping[str, Any]]) -> str:
    """With a word where the machine did not stay the same: rules.drift()."""
    most = cells[0].run.plan.validity.get("probe_drift_max")
    drift = max((row["drift"] or 0.0 for row in rows if row["is_of_processor"]), default=0.0)
    if most is None or drift <= most:
        return _TITLE
    return f"{_TITLE}: it drifted by up to {drift:.0%}, more than {most:.0%}"


def _first_of_turns(cells: Sequence[CellResult]) -> list[Measurement]:
    """In the order of their rounds, as they are measured."""
    turns = [turn for cell in cells for turn in cell.turns if turn.measurements]
    return [turn.measurements[0] for turn in sorted(turns, key=lambda turn: turn.round)]
