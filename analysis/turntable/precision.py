"""Whether a cell's rounds are enough: the results that an experiment wants to know precisely are.

`precision` of an experiment has columns of summary.csv and, of each, the largest half-width of the
95 % interval as a share of the mean. Only valid rounds count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from turntable.grid import Column, Table
from turntable.load import load_run
from turntable.results import CellResult, Row
from turntable.stats import estimate
from turntable.system import analysis_of_system
from turntable_core import journal
from turntable_core.errors import InputError, did_you_mean
from turntable_core.plan import Turn
from turntable_core.plan_limits import LEAST_ROUNDS
from turntable_core.run_directory import RunDirectory

if TYPE_CHECKING:  # reading specs takes jsonschema, which no turn should wait for
    from turntable_core.spec import Scale


@dataclass(frozen=True)
class Known:
    """How precisely the valid rounds of a cell know a result."""

    column: str  # of summary.csv
    asked: float  # largest share
    share: float | None  # half-width of the interval by the mean; None: too few values, or mean 0
    values: int  # of it in the valid rounds
    valid: int  # rounds

    @property
    def enough(self) -> bool:
        return self.share is not None and self.share <= self.asked


def check(scale: Scale, where: str) -> None:
    """Raises InputError for what is no column of which a mean is made. where: of `precision`."""
    known = analysis_of_system(scale.experiment.system).means
    for column in scale.precision:
        if column not in known:
            expected = f"one of {', '.join(known)}{did_you_mean(column, known)}"
            raise InputError(where, "precision", column, expected)


def is_needed(directory: Path, turn: Turn) -> bool:
    """Of a run's turn that has not been measured: whether the rounds of its cell before it leave
    anything to be known better.
    """
    run = load_run(
        directory, lambda other: other.cell.id == turn.cell.id and other.round < turn.round
    )
    return not is_precise(run.rows, run.plan.precision)


def still_skipped(run: RunDirectory) -> set[tuple[str, int]]:
    """Of the turns that are skipped, those that need not be measured: the rounds before them may
    have been measured again, less well, or at all where they had been refused.
    """
    skipped = run.skipped()
    if not skipped:
        return set()
    plan, attempts = run.plan(), run.attempts()
    needed = {
        cell
        for cell in {cell for cell, _ in skipped}
        if journal.reason_of_cell(plan, attempts, cell) is None
        and is_needed(run.path, plan.turn(cell, min(r for other, r in skipped if other == cell)))
    }
    return {(cell, round_) for cell, round_ in skipped if cell not in needed}


def is_precise(rows: Sequence[Row], precision: Mapping[str, float]) -> bool:
    """rows: of summary.csv, of one cell."""
    return bool(precision) and all(known.enough for known in known_of(rows, precision))


def known_of(rows: Sequence[Row], precision: Mapping[str, float]) -> list[Known]:
    """rows: of summary.csv, of one cell."""
    valid = [row for row in rows if row["verdict"] == "valid"]
    return [
        _known(column, most, [row[column] for row in valid]) for column, most in precision.items()
    ]


def _known(column: str, asked: float, values: Sequence[float | None]) -> Known:
    result, valid = estimate(values), len(values)
    known = result.n if result else 0
    if result is None or known < LEAST_ROUNDS or result.half_width is None or not result.mean:
        return Known(column, asked, None, known, valid)
    return Known(column, asked, result.half_width / abs(result.mean), known, valid)


_COLUMNS = (
    Column("", "cell", "cell", ""),
    Column("", "result", "column", ""),
    Column("half-width / mean", "asked", "asked", ">"),
    Column("half-width / mean", "reached", "share", ">"),
    Column("rounds", "valid", "valid", "d"),
    Column("rounds", "all", "all", "d"),
    Column("rounds", "at most", "most", "d"),
    Column("", "enough", "enough", ""),
)


def table(cells: Sequence[CellResult]) -> Table | None:
    """What was asked beside what was reached; None where an experiment asked for nothing."""
    plan = cells[0].run.plan
    rows = [
        {
            "cell": cell.label,
            "column": known.column,
            "asked": _percent(known.asked),
            "share": _percent(known.share),
            "valid": known.valid,
            "all": _measured(cell),
            "most": plan.rounds,
            "enough": "yes" if known.enough else "no",
        }
        for cell in cells
        for known in _of_cell(cell)
    ]
    title = "Precision: half-width of the 95 % interval as a share of the mean"
    return Table(title, _COLUMNS, rows) if rows else None


def lacking(cells: Sequence[CellResult]) -> list[str]:
    """A sentence per result that is not known as precisely as asked."""
    return [
        _sentence(cell, known) for cell in cells for known in _of_cell(cell) if not known.enough
    ]


def _sentence(cell: CellResult, known: Known) -> str:
    measured, most = _measured(cell), cell.run.plan.rounds
    yet = measured < most and any(turn.missing for turn in cell.turns)
    after = f"{measured} of {most} rounds" if yet else f"{measured} rounds"
    limit = " (max_rounds)" if measured == most else ""
    return (
        f"Precision not reached{' yet' if yet else ''}: {known.column} of {cell.label} "
        f"{_reached(known)} after {after}{limit}; asked: ±{_percent(known.asked)}"
    )


def _reached(known: Known) -> str:
    if known.share is not None:
        return f"is known to ±{_percent(known.share)}"
    if known.valid < LEAST_ROUNDS:
        plural = "" if known.valid == 1 else "s"
        return f"has {known.valid} valid round{plural}, and needs {LEAST_ROUNDS},"
    if known.values < LEAST_ROUNDS:
        without = known.valid - known.values
        return (
            f"has no value in {without} of {known.valid} valid rounds, and needs "
            f"{LEAST_ROUNDS} values,"
        )
    return "has mean 0, of which no interval is a share,"


def _of_cell(cell: CellResult) -> list[Known]:
    if cell.not_available:
        return []
    return known_of([turn.row for turn in cell.turns], cell.run.plan.precision)


def _measured(cell: CellResult) -> int:
    """Rounds of which anything was measured."""
    return sum(bool(turn.measurements) for turn in cell.turns)


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.3g} %"
