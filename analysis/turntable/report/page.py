"""Run -> report.html. The same files give the same page, byte for byte."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from turntable import plot, precision, table
from turntable.histograms import PERCENTILES
from turntable.plot import Drawing, stamp
from turntable.report import provenance
from turntable.results import NOT_AVAILABLE, NOT_MEASURED, CellResult, Run, TurnResult
from turntable.stats import Estimate
from turntable.system import Analysis, analysis_of
from turntable.verdict import not_checked_text
from turntable_core import files
from turntable_core.journal import FAILED, Attempt

Turns = Sequence[tuple[CellResult, TurnResult]]

FILE_NAME = "report.html"
GAP = "\N{EN DASH}"


def write_page(run: Run, page: str) -> Path:
    """Writes report.html into the run's directory and returns its path."""
    path = run.directory / FILE_NAME
    files.replace(path, page.encode())
    return path


def render(run: Run) -> str:
    analysis = analysis_of(run.plan)
    turns = [(cell, turn) for cell in run.cells for turn in cell.turns]
    variables = _results(run, analysis, turns) | _course(run, analysis, turns) | _provenance(run)
    template = environment(analysis).get_template("report.html.j2")
    return template.render(
        run=run, plan=run.plan, analysis=analysis, turns=turns, **variables, **analysis.report(run)
    )


def environment(analysis: Analysis) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([analysis.partial.parent, Path(__file__).parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (number, milliseconds, interval, clock)
    environment.filters |= {filter_.__name__: filter_ for filter_ in filters}
    return environment


def _results(run: Run, analysis: Analysis, turns: Turns) -> dict[str, Any]:
    return {
        "verdict": _verdict(run, turns),
        "not_checked": _not_checked(turns),
        "not_measured": table.not_measured(run, [turn for _, turn in turns]),
        "taken_over": table.taken_over(run.cells),
        "measured_at": _measured_at(run),
        "imprecise": precision.lacking(run.cells),
        "precision": precision.table(run.cells),
        "partial": analysis.partial.name,
        "mean_columns": table.mean_columns(run.cells),
        "means_of": table.means_of,
        "row_of": table.row_of,
        "counted": stamp.counted_rounds(run.cells).replace("95 %", "95\N{NO-BREAK SPACE}%"),
        "figures": {name: _svg(drawing) for name, drawing in analysis.figures(run.cells).items()},
        "latencies": [(cell, latency_row(cell)) for cell in run.cells if cell.latency.values],
        "percentiles": [name.replace("999", "99.9") for name in PERCENTILES],
    }


def _course(run: Run, analysis: Analysis, turns: Turns) -> dict[str, Any]:
    """How the measurement went."""
    return {
        "measured_iterations": _measured_iterations(turns),
        "cell_figures": [
            []
            if cell.gap in (NOT_MEASURED, NOT_AVAILABLE)
            else [_svg(d) for d in analysis.cell_figures(cell) if d]
            for cell in run.cells
        ],
        "overhead": _svg(plot.overhead(run.cells)),
        "failures": _failures(run),
    }


def _provenance(run: Run) -> dict[str, Any]:
    return {
        "facts": provenance.facts(run),
        "digests": provenance.digests(run),
        "parameters": provenance.parameters(run),
        "rules": provenance.rules(run),
    }


def _svg(drawing: Drawing | None) -> Markup:
    return Markup(drawing.svg() if drawing else "")


def number(value: float | None, decimals: int = 0) -> str:
    return GAP if value is None else f"{value:,.{decimals}f}"


def milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def interval(estimate: Estimate | None, decimals: int) -> str:
    """11.07 ± 0.05; without the second where one value has none."""
    if estimate is None:
        return GAP
    mean = number(estimate.mean, decimals)
    if estimate.half_width is None:
        return mean
    return f"{mean} ± {number(estimate.half_width, decimals)}"


def clock(nanoseconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(nanoseconds // 10**9))


def latency_row(cell: CellResult) -> list[str]:
    """Percentiles in µs, of the histograms of all rounds: never averaged."""
    return [number(cell.latency.percentile(percent)) for percent in PERCENTILES.values()]


def _measured_at(run: Run) -> tuple[int, int]:
    """Begin of the first attempt and end of the last; what another run has measured was earlier."""
    return (
        min(attempt.began_at_ns for attempt in run.attempts),
        max(attempt.ended_at_ns for attempt in run.attempts),
    )


def _measured_iterations(turns: Turns) -> int:
    return sum(len(turn.measurements) for _, turn in turns)


def _failures(run: Run) -> list[tuple[str, Attempt]]:
    """Label of the cell and attempt, of those that failed."""
    labels = {cell.id: cell.label for cell in run.cells}
    return [
        (labels.get(attempt.cell, attempt.cell), attempt)
        for attempt in run.attempts
        if attempt.status == FAILED
    ]


def _not_checked(turns: Turns) -> str:
    """Rules that were not checked in some round, and why."""
    return not_checked_text(turn.verdict for _, turn in turns)


def _verdict(run: Run, turns: Turns) -> dict[str, str]:
    """state: for the style; heading and text: for the reader."""
    total, valid = len(run.judged), sum(turn.valid for turn in run.judged)
    if total == 0:
        text = "This testbed can do nothing of what was planned, so nothing was measured."
        return {"state": "invalid", "heading": "Not available", "text": text}
    planned = run.plan.iteration_count
    if total < len(turns):
        planned = sum(turn.expected_iterations for turn in run.judged)
    if valid == total:
        every = "Every rule that could be checked" if _not_checked(turns) else "Every rule"
        text = f"{every} held in all {planned} iterations."
        return {"state": "valid", "heading": "Valid", "text": text}
    share = f"{valid} of {total} rounds (of all cells) are valid; " if total > 1 else ""
    text = (
        f"{share}{_measured_iterations(turns)} of {planned} iterations were measured. Results "
        "count valid rounds only: the others are gaps, not zeros."
    )
    heading = "Invalid" if valid == 0 else "Invalid in part"
    return {"state": "invalid", "heading": heading, "text": text}
