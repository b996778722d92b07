"""Runs as tidy data frames: one observation per row, units in the names, missing as NaN.

Every function takes a run or several, and every frame begins with keys(runs), so that frames can be
joined with each other and with `parameters`. Nothing is left out: choose valid rounds with `valid`.
Systems have further frames of their own (turntable.systems.<name>.tidy).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pandas as pd

from turntable.histograms import merge
from turntable.measurement import Measurement
from turntable.results import CellResult, Run, TurnResult
from turntable.summary import columns_of
from turntable.system import analysis_of

Runs = Run | Iterable[Run]
Values = dict[str, Any]
Rows = Callable[[CellResult, TurnResult], Iterable[Values]]


def keys(runs: Runs) -> list[str]:
    """Of the columns by which frames are joined: the parameters are the systems' identities."""
    identity = dict.fromkeys(name for run in _each(runs) for name in run.plan.system.identity)
    return ["experiment", "run", "cell", *identity, "round", "valid"]


def rounds(runs: Runs) -> pd.DataFrame:
    """A row per cell and round: the columns of summary.csv."""
    every = dict.fromkeys(name for run in _each(runs) for name in columns_of(run.plan))
    columns = [name for name in every if name not in keys(runs)]
    return frame(runs, columns, lambda _, turn: [{name: turn.row.get(name) for name in columns}])


def seconds(runs: Runs) -> pd.DataFrame:
    """A row per iteration, series and second of its window (0 is the first)."""

    def rows(cell: CellResult, measurement: Measurement) -> Iterator[Values]:
        series = analysis_of(cell.run.plan).series(measurement)
        for name, values in series.items():
            for second, value in enumerate(values):
                yield {"series": name, "second": second, "value": value}

    return frame(runs, ("iteration", "series", "second", "value"), of_iterations(rows))


def latency(runs: Runs) -> pd.DataFrame:
    """A row per bucket of a round's merged histogram.

    weight: operations, of some iterations scaled as their throughput is. To merge rounds, add the
    weights of equal latency_us; `share` is cumulative within the round. Complete rounds only.
    """

    def rows(_: CellResult, turn: TurnResult) -> Iterator[Values]:
        merged = merge(turn.histograms)
        total, seen = merged.total, 0.0
        for value, weight in zip(merged.values, merged.weights, strict=True):
            seen += weight
            yield {"latency_us": value, "weight": weight, "share": seen / total}

    return frame(runs, ("latency_us", "weight", "share"), rows)


def attempts(runs: Runs) -> pd.DataFrame:
    """A row per attempt in the journal, failed ones too."""
    names = (
        "iteration", "attempt", "status", "failure_class", "message", "overhead_s", "began_at_ns",
        "ended_at_ns", "taken_from",
    )  # fmt: skip

    def rows(cell: CellResult, turn: TurnResult) -> Iterator[Values]:
        for attempt in cell.run.attempts:
            if (attempt.cell, attempt.round) == (cell.id, turn.round):
                yield {name: getattr(attempt, name) for name in names}

    return frame(runs, names, rows)


def parameters(runs: Runs) -> pd.DataFrame:
    """A row per run and cell, a column per parameter."""
    return pd.DataFrame(
        {"run": run.name, "cell": cell.id} | dict(cell.parameters)
        for run in _each(runs)
        for cell in run.cells
    )


def frame(runs: Runs, columns: Iterable[str], rows: Rows) -> pd.DataFrame:
    """One frame of all rounds of all runs. Columns are there even if nothing was measured."""
    return pd.DataFrame(
        (
            _keys(cell, turn) | {name: row[name] for name in columns}
            for run in _each(runs)
            for cell in run.cells
            for turn in cell.turns
            for row in rows(cell, turn)
        ),
        columns=[*keys(runs), *columns],
    )


def of_iterations(rows: Callable[[CellResult, Measurement], Iterable[Values]]) -> Rows:
    """rows: of one iteration -> rows of a round, with the iteration's index."""

    def of_turn(cell: CellResult, turn: TurnResult) -> Iterator[Values]:
        for measurement in turn.measurements:
            for row in rows(cell, measurement):
                yield {"iteration": measurement.iteration} | row

    return of_turn


def _keys(cell: CellResult, turn: TurnResult) -> Values:
    identity = {name: cell.parameters[name] for name in cell.run.plan.system.identity}
    where = {"experiment": cell.run.plan.experiment, "run": cell.run.name, "cell": cell.id}
    return where | identity | {"round": turn.round, "valid": turn.valid}


def _each(runs: Runs) -> list[Run]:
    return [runs] if isinstance(runs, Run) else list(runs)
