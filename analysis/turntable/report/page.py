"""Run -> report.html. The same files give the same page, byte for byte."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from turntable import plot, recovery
from turntable.cells import NOT_MEASURED, Cell, Round
from turntable.histograms import PERCENTILES
from turntable.load import Run
from turntable.plot import Drawing, stamp
from turntable.recovery import recovered
from turntable.report import provenance
from turntable.stats import Estimate
from turntable.summary import Row
from turntable.updates import comparisons
from turntable_core import files
from turntable_core.journal import FAILED, Attempt

Rounds = Sequence[tuple[Cell, Round]]

FILE_NAME = "report.html"
GAP = "\N{EN DASH}"

RATIOS = (  # heading, column measured, what the predictions' columns end with, decimals
    ("Normalized throughput", "normalized_throughput", "normalized", 2),
    ("Imbalance", "imbalance_ratio", "imbalance", 3),
)


def write_page(run: Run, page: str) -> Path:
    """Writes report.html into the run's directory and returns its path."""
    path = run.directory / FILE_NAME
    files.replace(path, page.encode())
    return path


def render(run: Run) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (number, milliseconds, interval, clock)
    environment.filters |= {filter_.__name__: filter_ for filter_ in filters}
    rounds = [(cell, round_) for cell in run.cells for round_ in cell.rounds]
    return environment.get_template("report.html.j2").render(
        run=run,
        plan=run.plan,
        rounds=rounds,
        moved=any(_bottleneck_moved(round_.row) for _, round_ in rounds),
        ratios=RATIOS,
        verdict=_verdict(run, rounds),
        not_checked=_not_checked(rounds),
        counted=stamp.counted_rounds(run.cells).replace("95 %", "95\N{NO-BREAK SPACE}%"),
        figures=_figures(run.cells),
        updates=comparisons(run.cells),
        recoveries=recovered(run.cells),
        recovery_phases=recovery.PHASES,
        latencies=[(cell, _latency_row(cell)) for cell in run.cells if cell.latency.values],
        percentiles=[name.replace("999", "99.9") for name in PERCENTILES],
        measured_iterations=_measured_iterations(rounds),
        failures=_failures(run),
        facts=provenance.facts(run),
        digests=provenance.digests(run),
        parameters=provenance.parameters(run),
        rules=provenance.rules(run),
    )


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


def _bottleneck_moved(row: Row) -> bool:
    """Whether another partition than the rotation's bottleneck was the busiest."""
    return row["busiest_partition"] not in (None, row["bottleneck_partition"])


def _figures(cells: Sequence[Cell]) -> dict[str, Any]:
    def svg(drawing: Drawing | None) -> Markup:
        return Markup(drawing.svg() if drawing else "")

    return {
        "throughput": svg(plot.throughput(cells)),
        "scaling": svg(plot.scaling(cells)),
        "updates": svg(plot.updates(cells)),
        "latency": svg(plot.latency(cells)),
        "overhead": svg(plot.overhead(cells)),
        "cells": [
            []
            if cell.gap == NOT_MEASURED
            else [svg(plot.partitions(cell)), svg(plot.iterations(cell))]
            for cell in cells
        ],
    }


def _latency_row(cell: Cell) -> list[str]:
    """Mean and percentiles in µs; the latter of the histograms of all rounds, never averaged."""
    percentiles = [number(cell.latency.percentile(percent)) for percent in PERCENTILES.values()]
    return [interval(cell.measured("latency_mean_us"), 0), *percentiles]


def _measured_iterations(rounds: Rounds) -> int:
    return sum(len(round_.turn.measurements) for _, round_ in rounds)


def _failures(run: Run) -> list[tuple[str, Attempt]]:
    """Label of the cell and attempt, of those that failed."""
    labels = {cell.id: cell.label for cell in run.cells}
    return [
        (labels.get(attempt.cell, attempt.cell), attempt)
        for attempt in run.attempts
        if attempt.status == FAILED
    ]


def _not_checked(rounds: Rounds) -> list[str]:
    """Rules and why each was not checked; different ones where rounds differ."""
    texts = (round_.row["not_checked"] for _, round_ in rounds)
    return list(dict.fromkeys(text for text in texts if text))


def _verdict(run: Run, rounds: Rounds) -> dict[str, str]:
    """state: for the style; heading and text: for the reader."""
    total, planned = len(rounds), run.plan.iteration_count
    valid = sum(round_.valid for _, round_ in rounds)
    if valid == total:
        every = "Every rule that could be checked" if _not_checked(rounds) else "Every rule"
        text = f"{every} held in all {planned} iterations."
        return {"state": "valid", "heading": "Valid", "text": text}
    share = f"{valid} of {total} rounds (of all cells) are valid; " if total > 1 else ""
    text = (
        f"{share}{_measured_iterations(rounds)} of {planned} iterations were measured. Results "
        "count valid rounds only: the others are gaps, not zeros."
    )
    heading = "Invalid" if valid == 0 else "Invalid in part"
    return {"state": "invalid", "heading": heading, "text": text}
