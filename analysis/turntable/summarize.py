"""A run -> summary.csv, cells.csv and the terminal table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from turntable import table
from turntable.load import load_run
from turntable.results import Run
from turntable.summary import cells_csv, summary_csv
from turntable_core import files


@dataclass(frozen=True)
class Summary:
    run: Run
    table: str

    @property
    def valid(self) -> bool:
        """What the testbed cannot do does not count; where that is all, nothing is valid."""
        judged = self.run.judged
        return bool(judged) and all(turn.valid for turn in judged)

    @property
    def terms_of_invalid(self) -> tuple[str, ...]:
        """Of `only`, for what was judged and is not valid: ids of cells and, where there are
        several, rounds.
        """
        invalid = [turn for turn in self.run.judged if not turn.valid]
        rounds = sorted({turn.round for turn in invalid})
        several = len({turn.round for turn in self.run.turns}) > 1
        cells = dict.fromkeys(turn.turn.cell.id for turn in invalid)
        return (*cells, *(f"round={number}" for number in rounds if several))

    @property
    def reasons(self) -> str:
        return "\n".join(
            f"{cell.label.replace(' · ', ' ')} round {turn.round}: {turn.verdict}"
            for cell in self.run.cells
            for turn in cell.turns
            if not turn.valid
        )


def summarize_directory(directory: Path) -> Summary:
    return summarize_run(load_run(directory))


def summarize_run(run: Run) -> Summary:
    """Writes the derived tables into the run's directory."""
    files.replace(run.directory / "summary.csv", summary_csv(run))
    files.replace(run.directory / "cells.csv", cells_csv(run))
    return Summary(run, table.render(run.cells, median_overhead_s(run), str(run.directory)))


def median_overhead_s(run: Run) -> float | None:
    """Over all iterations that were measured."""
    values = [
        m.overhead_s for turn in run.turns for m in turn.measurements if m.overhead_s is not None
    ]
    return median(values) if values else None
