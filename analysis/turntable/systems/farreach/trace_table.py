"""What is in a recorded trace that a run replayed (docs/workloads.md §9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult

_COLUMNS = (
    Column("", "workload", "workload", ""),
    Column("requests", "all", "requests", ",d"),
    Column("requests", "gets", "reads", ",d"),
    Column("requests", "puts", "writes", ",d"),
    Column("requests", "deletes", "deletes", ",d"),
    Column("", "keys", "keys", ",d"),
    Column("", "longest value", "longest_value_bytes", ",d"),
    Column("not cacheable", "keys", "never_keys", ",d"),
    Column("not cacheable", "requests", "never_share", ".2%"),
    Column("", "file", "file", ""),
    Column("", "digest", "digest", ""),
)


def tables(cells: Sequence[CellResult]) -> list[Table]:
    """Nothing where no trace was recorded. A row for each one: methods replay the same."""
    rows: dict[str, dict[str, Any]] = {}
    for cell in cells:
        for turn in cell.turns:
            facts = turn.prediction.recorded
            if facts is not None:
                rows.setdefault(facts["digest"], _row(cell, facts))
    title = "Recorded trace, as far as it was replayed"
    return [Table(title, _COLUMNS, list(rows.values()))] if rows else []


def _row(cell: CellResult, facts: Mapping[str, Any]) -> dict[str, Any]:
    never = facts["not_cacheable"]
    return {
        **facts,
        "workload": cell.parameters["workload"],
        "never_keys": never["keys"],
        "never_share": never["requests"] / facts["requests"],
    }
