"""summary.csv, a row per cell and round, and cells.csv, a row per cell.

Beside what its system names, a row has its cell's id and the parameters that tell the cells of the
experiment apart. A value that is missing is empty, never 0. In cells.csv the valid rounds of a cell
are together: rates, ratios and mean latencies are means with the half-width of their 95 % interval;
percentiles are read from one histogram of all these rounds. A cell without a valid round has empty
results.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from turntable.histograms import PERCENTILES, Merged, merge
from turntable.results import CellResult, Row, Run, RunFacts, Weighted
from turntable.system import HEAD, LATENCIES, Analysis, analysis_of
from turntable.verdict import Case, Verdict
from turntable_core import labels
from turntable_core.plan import Plan, Turn
from turntable_core.reference import Reference


def row_of(
    facts: RunFacts,
    turn: Turn,
    case: Case,
    verdict: Verdict,
    attempts: tuple[int, int],
    histograms: Weighted,
    reference: Reference,
) -> Row:
    """Of summary.csv. case, verdict, histograms: of the turn; attempts: how many of it failed, and
    how many of its iterations were measured more than once.
    """
    analysis, measurements = analysis_of(facts.plan), case.measurements
    return {
        **_head(facts),
        **{column: case.parameters[column] for column in analysis.parameter_columns},
        "round": turn.round,
        **_percentiles(merge(histograms)),
        "iterations_ok": len(measurements),
        "iterations_failed": attempts[0],
        "iterations_repeated": attempts[1],
        "retries": _retries(case),
        "verdict": str(verdict),
        "not_checked": verdict.not_checked_text,
        **analysis.values(case, reference),
        "cell": turn.cell.id,
        **_distinction(facts.plan, case.parameters, analysis.all_columns),
    }


def columns_of(plan: Plan) -> tuple[str, ...]:
    """Of summary.csv."""
    columns = analysis_of(plan).all_columns
    return (*columns, *_further_parameters(plan, columns))


def _further_parameters(plan: Plan, columns: Sequence[str]) -> list[str]:
    return [name for name in labels.peculiar_parameters(plan) if name not in columns]


def _distinction(plan: Plan, parameters: Mapping[str, Any], columns: Sequence[str]) -> Row:
    """Of a cell: what `columns` do not tell. None: such a cell has no such parameter."""
    return {name: parameters.get(name) for name in _further_parameters(plan, columns)}


def _retries(case: Case) -> int | None:
    """None where nothing was measured, or nobody counted them."""
    counts = [measurement.retries for measurement in case.measurements]
    return sum(counts) if counts and None not in counts else None


def summary_csv(run: Run) -> bytes:
    return _to_csv(run.rows, columns_of(run.plan))


def cells_csv(run: Run) -> bytes:
    columns = _columns_of_cells(analysis_of(run.plan))
    columns = (*columns, *_further_parameters(run.plan, columns))
    return _to_csv([_cell_row(cell) for cell in run.cells], columns)


def _columns_of_cells(analysis: Analysis) -> tuple[str, ...]:
    return (
        *HEAD,
        *analysis.parameter_columns,
        "rounds",
        "valid_rounds",
        *(name for mean in analysis.means for name in (mean, f"{mean}_half_width")),
        *analysis.expected,
        *analysis.paper,
        *LATENCIES,
        "cell",
    )


def _cell_row(cell: CellResult) -> Row:
    analysis = analysis_of(cell.run.plan)
    row = {
        **_head(cell.run),
        **{column: cell.parameters[column] for column in analysis.parameter_columns},
        "rounds": len(cell.turns),
        "valid_rounds": len(cell.counted),
        **{column: cell.predicted(column) for column in analysis.expected},
        **{column: cell.paper[metric] for column, metric in analysis.paper.items()},
        **_percentiles(cell.latency),
        "cell": cell.id,
        **_distinction(cell.run.plan, cell.parameters, _columns_of_cells(analysis)),
    }
    for column in analysis.means:
        result = cell.measured(column)
        row[column] = result.mean if result else None
        row[f"{column}_half_width"] = result.half_width if result else None
    return row


def _head(facts: RunFacts) -> Row:
    plan = facts.plan
    return {
        "experiment": plan.experiment,
        "profile": plan.profile,
        "fidelity_class": facts.fidelity_class,
        "system": plan.system_name,
    }


def _percentiles(merged: Merged) -> Row:
    return {
        f"latency_{name}_us": merged.percentile(percent) for name, percent in PERCENTILES.items()
    }


def _to_csv(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({column: _field(row[column]) for column in columns})
    return text.getvalue().encode()


def _field(value: Any) -> str:
    if value is None:
        return ""
    return repr(round(value, 4)) if isinstance(value, float) else str(value)
