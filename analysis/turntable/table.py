"""The table a run ends with, for a terminal of 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from turntable import grid, precision
from turntable.grid import MISSING, Column
from turntable.results import CellResult, RunFacts, TurnResult
from turntable.stats import Estimate
from turntable.system import analysis_of
from turntable.verdict import not_checked_text

WIDTH = 100

ROUND = Column("", "rnd", "round", "d")  # where there are several
# Where cells of the same identity differ.
PECULIARITIES = Column("", "with", "peculiarities", "")
VERDICT = Column("", "verdict", "verdict", "")
VALID = Column("", "valid", "valid", ">")


def render(cells: Sequence[CellResult], overhead_s: float | None, directory: str) -> str:
    """The whole table with its notes. overhead_s: median per iteration; directory: of the run."""
    run = cells[0].run
    facts = (run.plan.experiment, f"profile {run.plan.profile}")
    title = ", ".join([*facts, f"fidelity class {run.fidelity_class}"])
    lines = [title, *_common_facts(cells), "", *_rounds(cells), ""]
    lines += [*_across_rounds(cells), *_precision(cells), *_further(cells)]
    lines += [
        *_taken_over(cells),
        *_reasons(cells),
        *_imprecise(cells),
        *_not_checked(cells),
        *_notes(run, overhead_s),
    ]
    return "\n".join([*lines, f"Results: {directory}"])


def _rounds(cells: Sequence[CellResult]) -> list[str]:
    several_rounds = max(len(cell.turns) for cell in cells) > 1
    own = _with_values(analysis_of(cells[0].run.plan).round_columns, cells)
    columns = [*_naming(cells), *([ROUND] if several_rounds else []), *own, VERDICT]
    rows = [row_of(cell, turn) for cell in cells for turn in cell.turns]
    return grid.lines(columns, rows)


def _with_values(columns: Sequence[Column], cells: Sequence[CellResult]) -> list[Column]:
    rows = [turn.row for cell in cells for turn in cell.turns]
    return [
        column
        for column in columns
        if not column.optional or any(row.get(column.key) is not None for row in rows)
    ]


def row_of(cell: CellResult, turn: TurnResult) -> dict[str, Any]:
    """A round's values by key of the columns: those of summary.csv, and what was published."""
    paper = analysis_of(cell.run.plan).paper.items()
    row = turn.row | _named(cell) | {column: cell.paper[metric] for column, metric in paper}
    return row if turn.begun else row | {"verdict": "not measured"}


def _naming(cells: Sequence[CellResult]) -> list[Column]:
    """The columns that tell cells apart."""
    plan, common = cells[0].run.plan, _in_common(cells)
    every = analysis_of(plan).name_columns or [
        Column("", name, name, "") for name in plan.system.identity
    ]
    columns = [column for column in every if column.key not in common]
    return [*columns, PECULIARITIES] if _are_peculiar(cells) else columns


def _in_common(cells: Sequence[CellResult]) -> list[str]:
    """Where it takes more than the identity to tell cells apart, the parts of it that all cells
    have in common: they make room.
    """
    if not _are_peculiar(cells):
        return []
    identity = cells[0].run.plan.system.identity
    return [key for key in identity if len({cell.parameters[key] for cell in cells}) == 1]


def _are_peculiar(cells: Sequence[CellResult]) -> bool:
    return any(cell.peculiarities for cell in cells)


def _common_facts(cells: Sequence[CellResult]) -> list[str]:
    """A line with what _naming() leaves out."""
    facts = [f"{key} {cells[0].parameters[key]}" for key in _in_common(cells)]
    return [f"All cells: {', '.join(facts)}"] if facts else []


def _named(cell: CellResult) -> dict[str, Any]:
    parameters = {name: cell.parameters[name] for name in cell.run.plan.system.identity}
    return parameters | {"peculiarities": ", ".join(cell.peculiarities) or MISSING}


def _across_rounds(cells: Sequence[CellResult]) -> list[str]:
    """Mean and interval of every cell's valid rounds; nothing where there is one round."""
    if max(len(cell.turns) for cell in cells) == 1:
        return []
    title = "Mean of the valid rounds with its 95 % interval (t-distribution)"
    columns = [*_naming(cells), *mean_columns(cells)]
    return [title, "", *grid.lines(columns, [means_of(cell) for cell in cells]), ""]


def mean_columns(cells: Sequence[CellResult]) -> list[Column]:
    """Of means_of(), whose measured values are texts."""
    own = _with_values(analysis_of(cells[0].run.plan).cell_columns, cells)
    return [*(replace(c, form=">", measured=False) if c.measured else c for c in own), VALID]


def means_of(cell: CellResult) -> dict[str, Any]:
    """A cell's values over its valid rounds, by key of the columns."""
    analysis = analysis_of(cell.run.plan)
    paper = analysis.paper
    row: dict[str, Any] = _named(cell) | {"valid": f"{len(cell.counted)}/{len(cell.turns)}"}
    for column in analysis.cell_columns:
        if column.measured:
            row[column.key] = _interval(cell.measured(column.key), column.form)
        elif column.key in paper:
            row[column.key] = cell.paper[paper[column.key]]
        else:
            row[column.key] = cell.predicted(column.key)
    return row


def _interval(result: Estimate | None, form: str) -> str | None:
    if result is None:
        return None
    mean = format(result.mean, form)
    return mean if result.half_width is None else f"{mean} ±{format(result.half_width, form)}"


def _precision(cells: Sequence[CellResult]) -> list[str]:
    table = precision.table(cells)
    return _titled(table) if table else []


def _further(cells: Sequence[CellResult]) -> list[str]:
    tables = analysis_of(cells[0].run.plan).further_tables(cells)
    return [line for table in tables for line in _titled(table)]


def _titled(table: grid.Table) -> list[str]:
    return [table.title, "", *grid.lines(table.columns, table.rows), ""]


def _reasons(cells: Sequence[CellResult]) -> list[str]:
    lines = []
    for cell in cells:
        name = cell.label.replace(" · ", ", ")
        for turn in cell.turns:
            if turn.begun and not turn.valid:
                text = f"{name}, round {turn.round}: {turn.verdict}"
                lines += textwrap.wrap(text, WIDTH, subsequent_indent="  ")
    rest = not_measured(cells[0].run, [turn for cell in cells for turn in cell.turns])
    lines += [rest] if rest else []
    return [*lines, ""] if lines else []


def not_measured(run: RunFacts, turns: Sequence[TurnResult]) -> str | None:
    """A run that was ended early may have hundreds of rounds to do: one line for all."""
    count = sum(not turn.begun for turn in turns)
    if not count:
        return None
    if run.imported:
        return f"{count} of {len(turns)} rounds are missing: none of their files was imported"
    return f"{count} of {len(turns)} rounds have not been measured: the run has not ended"


def taken_over(cells: Sequence[CellResult]) -> list[str]:
    """A sentence per other run that has measured some of the rounds."""
    by_origin: dict[str, dict[str, list[int]]] = {}
    for cell in cells:
        for turn in cell.turns:
            if turn.taken_from:
                rounds = by_origin.setdefault(turn.taken_from, {}).setdefault(cell.label, [])
                rounds.append(turn.round)
    several = any(len(cell.turns) > 1 for cell in cells)
    return [
        f"Measured by {origin}, not here: "
        + "; ".join(
            f"{label}, round {', '.join(map(str, rounds))}" if several else label
            for label, rounds in labels.items()
        )
        for origin, labels in by_origin.items()
    ]


def _taken_over(cells: Sequence[CellResult]) -> list[str]:
    texts = [text.replace(" · ", " ") for text in taken_over(cells)]
    lines = [line for t in texts for line in textwrap.wrap(t, WIDTH, subsequent_indent="  ")]
    return [*lines, ""] if lines else []


def _imprecise(cells: Sequence[CellResult]) -> list[str]:
    lines = [
        line
        for text in precision.lacking(cells)
        for line in textwrap.wrap(text, WIDTH, subsequent_indent="  ")
    ]
    return [*lines, ""] if lines else []


def _not_checked(cells: Sequence[CellResult]) -> list[str]:
    """Of all cells together."""
    text = not_checked_text(turn.verdict for cell in cells for turn in cell.turns)
    return textwrap.wrap(f"Not checked: {text}", WIDTH, subsequent_indent="  ") if text else []


def _notes(run: RunFacts, overhead_s: float | None) -> list[str]:
    notes: list[str] = []
    analysis = analysis_of(run.plan)
    if run.emulated:
        notes.append(f"Emulated testbed. {analysis.emulated_note}")
    notes += analysis.notes
    notes = [line for note in notes for line in textwrap.wrap(note, WIDTH, subsequent_indent="  ")]
    if overhead_s is not None:
        notes.append(
            f"Overhead per iteration (wall - warm-up - measuring), median: {overhead_s:.2f} s"
        )
    return notes
