"""One run directory -> summary.csv and the terminal table.

Reads plan, manifest, journal and raw files only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from turntable import table
from turntable.load import Run, load_run
from turntable.reference import Reference
from turntable.summary import summarize, to_csv
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
    run = load_run(directory)
    rows = summarize(run)
    files.replace(directory / "summary.csv", to_csv(rows))
    reference = Reference(run.reference_file)
    shown = [
        row | {"paper_imbalance": reference.value("imbalance_ratio", turn.parameters)}
        for row, turn in zip(rows, run.turns, strict=True)
    ]
    return Summary(rows, table.render(shown, median_overhead_s(run), str(directory)))


def median_overhead_s(run: Run) -> float | None:
    """Over all iterations that were measured."""
    values = [
        m.overhead_s for turn in run.turns for m in turn.measurements if m.overhead_s is not None
    ]
    return median(values) if values else None
