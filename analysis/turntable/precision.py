"""Whether a cell's rounds are enough: the results that an experiment wants to know precisely are.

`precision` of an experiment has columns of summary.csv and, of each, the largest half-width of the
95 % interval as a share of the mean. Only valid rounds count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from turntable.load import load_run
from turntable.results import Row
from turntable.stats import estimate
from turntable.system import analysis_of_system
from turntable_core.errors import InputError, did_you_mean
from turntable_core.plan import Turn
from turntable_core.plan_limits import LEAST_ROUNDS

if TYPE_CHECKING:  # reading specs takes jsonschema, which no turn should wait for
    from turntable_core.spec import Scale


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


def is_precise(rows: Sequence[Row], precision: Mapping[str, float]) -> bool:
    """rows: of summary.csv, of one cell."""
    valid = [row for row in rows if row["verdict"] == "valid"]
    return bool(precision) and all(
        _share([row[column] for row in valid]) <= most for column, most in precision.items()
    )


def _share(values: Sequence[float | None]) -> float:
    """Half-width of the interval by the mean; infinite while there are too few values."""
    result = estimate(values)
    if result is None or result.n < LEAST_ROUNDS or result.half_width is None or not result.mean:
        return float("inf")
    return result.half_width / abs(result.mean)
