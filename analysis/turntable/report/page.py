"""Contents -> report.html. The same files give the same page, byte for byte."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from turntable.histograms import PERCENTILES, Merged, merge
from turntable.report import diagnostic_figures, provenance, result_figures
from turntable.report.contents import Cell, Contents
from turntable.report.estimate import Estimate
from turntable.summary import weighted_partitions
from turntable_core import files

FILE_NAME = "report.html"
GAP = "\N{EN DASH}"

RATIOS = (  # heading, column measured, what the predictions' columns end with, decimals
    ("Normalized throughput", "normalized_throughput", "normalized", 2),
    ("Imbalance", "imbalance_ratio", "imbalance", 3),
)


def write_report(contents: Contents) -> Path:
    """Writes report.html into the run's directory and returns its path."""
    path = contents.run.directory / FILE_NAME
    files.replace(path, render(contents).encode())
    return path


def render(contents: Contents) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "interval": interval, "clock": clock}
    curves = _merged_latencies(contents.cells)
    return environment.get_template("report.html.j2").render(
        contents=contents,
        plan=contents.run.plan,
        ratios=RATIOS,
        verdict=_verdict(contents),
        counted=counted_rounds(contents.cells),
        figures=_figures(contents, curves),
        latencies=[(cell, _latency_row(cell, merged)) for cell, merged in curves],
        percentiles=[name.replace("999", "99.9") for name in PERCENTILES],
        facts=provenance.facts(contents),
        digests=provenance.digests(contents),
        parameters=provenance.parameters(contents),
        rules=provenance.rules(contents),
    )


def counted_rounds(cells: Sequence[Cell]) -> str:
    """n and the kind of interval, as figures carry it."""
    counts = sorted({len(cell.counted) for cell in cells})
    planned = max(len(cell.rounds) for cell in cells)
    if counts == [0]:
        return "no valid round"
    n = f"{counts[0]}\N{EN DASH}{counts[-1]}" if len(counts) > 1 else str(counts[0])
    noun = "round" if planned == 1 else "rounds"
    of = noun if counts == [planned] else f"of {planned} {noun} (the valid ones)"
    kind = "mean with 95 % interval (t-distribution)" if counts[-1] > 1 else "no interval"
    return f"n = {n} {of}, {kind}"


def number(value: float | None, decimals: int = 0) -> str:
    return GAP if value is None else f"{value:,.{decimals}f}"


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


def _figures(contents: Contents, curves: Sequence[tuple[Cell, Merged]]) -> dict[str, Any]:
    def stamp(cells: Sequence[Cell], diagnostic: bool = False) -> str:
        n = _diagnosed_rounds(cells) if diagnostic else counted_rounds(cells)
        return f"run {contents.name}  ·  {n}  ·  fidelity class {contents.run.fidelity_class}"

    return {
        "throughput": Markup(result_figures.throughput(contents, stamp(contents.cells))),
        "latency": Markup(result_figures.latency(curves, stamp(contents.cells))) if curves else "",
        "overhead": Markup(diagnostic_figures.overhead(contents, stamp(contents.cells, True))),
        "cells": [
            (
                Markup(
                    diagnostic_figures.partitions(
                        f"partitions{i}", cell, stamp([cell], not cell.counted)
                    )
                ),
                Markup(
                    diagnostic_figures.iterations(
                        f"iterations{i}", cell, valid_band(contents, cell), stamp([cell], True)
                    )
                ),
            )
            for i, cell in enumerate(contents.cells)
        ],
    }


def valid_band(contents: Contents, cell: Cell) -> tuple[float, float] | None:
    """Of the busier server: utilization with a capacity, else busy share of the time.

    None on an emulated testbed without capacity, where nothing limits a server and none is valid.
    """
    validity = contents.run.plan.validity
    if cell.parameters["capacity_ops_per_s"] > 0:
        low, high = validity["busiest_utilization"]
        return low, high
    return None if contents.emulated else (validity["busy_share_min"], 1.0)


def _diagnosed_rounds(cells: Sequence[Cell]) -> str:
    count = max(len(cell.rounds) for cell in cells)
    return f"n = {count} round{'s' * (count > 1)} as measured, no interval"


def _merged_latencies(cells: Sequence[Cell]) -> list[tuple[Cell, Merged]]:
    """Histograms of all iterations and valid rounds of a cell, merged."""
    result = []
    for cell in cells:
        parts = [
            (text, weight)
            for round_ in cell.counted
            for client, weight in weighted_partitions(round_.turn.measurements)
            for text in client.histograms
        ]
        merged = merge(parts)
        if merged.values:
            result.append((cell, merged))
    return result


def _latency_row(cell: Cell, merged: Merged) -> list[str]:
    """Mean and percentiles in µs; the latter of the histograms of all rounds, never averaged."""
    percentiles = [number(merged.percentile(percent)) for percent in PERCENTILES.values()]
    return [interval(cell.measured("latency_mean_us"), 0), *percentiles]


def _verdict(contents: Contents) -> dict[str, str]:
    """state: for the style; heading and text: for the reader."""
    total = len(contents.rounds)
    valid = sum(round_.valid for _, round_ in contents.rounds)
    measured, planned = contents.measured_iterations, contents.run.plan.iteration_count
    if valid == total:
        text = f"Every rule held in all {planned} iterations."
        return {"state": "valid", "heading": "Valid", "text": text}
    rounds = f"{valid} of {total} rounds (of all cells) are valid; " if total > 1 else ""
    text = (
        f"{rounds}{measured} of {planned} iterations were measured. Results count valid rounds "
        "only: the others are gaps, not zeros."
    )
    heading = "Invalid" if valid == 0 else "Invalid in part"
    return {"state": "invalid", "heading": heading, "text": text}
