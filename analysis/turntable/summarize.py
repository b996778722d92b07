"""A run -> summary.csv, cells.csv and the terminal table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from turntable import table
from turntable.across_rounds import cells_csv
from turntable.load import Run, load_run
from turntable.summary import to_csv
from turntable_core import files


@dataclass(frozen=True)
class Summary:
    rows: list[dict[str, Any]]
    table: str

    @property
    def valid(self) -> bool:
        return all(row["verdict"] == "valid" for row in self.rows)

    @property
    def reasons(self) -> str:
        return "\n".join(
            f"{row['workload']} {row['method']} {row['servers']} servers round {row['round']}: "
            f"{row['verdict']}"
            for row in self.rows
            if row["verdict"] != "valid"
        )


def summarize_directory(directory: Path) -> Summary:
    return summarize_run(load_run(directory))


def summarize_run(run: Run) -> Summary:
    """Writes the derived tables into the run's directory."""
    rows = [round_.row for cell in run.cells for round_ in cell.rounds]
    files.replace(run.directory / "summary.csv", to_csv(rows))
    files.replace(run.directory / "cells.csv", cells_csv(run.cells))
    return Summary(rows, table.render(run.cells, median_overhead_s(run), str(run.directory)))


def median_overhead_s(run: Run) -> float | None:
    """Over all iterations that were measured."""
    values = [
        m.overhead_s for turn in run.turns for m in turn.measurements if m.overhead_s is not None
    ]
    return median(values) if values else None
