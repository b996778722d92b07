"""Is a figure of the publication reproduced? Said of the numbers that both have, from the run's
files and the table of references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log
from statistics import fmean, median

from turntable.results import CellResult, Run
from turntable.system import analysis_of
from turntable_core.reference import Reference

REPRODUCED, SHAPE, DIFFERS = "reproduced", "shape only", "differs"
NOT_COMPARABLE, NOT_MEASURED = "not comparable", "not measured"

# Within so much of the published numbers a figure is called reproduced; beyond, only its shape can.
NEAR = 0.10
# Published numbers that are closer have no order that could be kept.
APART = 0.10
# Of the pairs that have an order, so many keep it where the shape is the paper's.
KEPT = 0.9

# Ends of metrics' names; the longer ones first.
_UNITS = {"_ops_per_s": "ops/s", "_mib_per_s": "MiB/s", "_us": "µs", "_s": "s"}


@dataclass(frozen=True)
class Statement:
    """About one figure."""

    title: str
    state: str
    text: str


@dataclass(frozen=True)
class Pair:
    """What was published of a cell, and what was measured."""

    label: str
    paper: float
    measured: float

    @property
    def ratio(self) -> float:
        return self.measured / self.paper


def statements(run: Run) -> list[Statement]:
    """Of every figure that the experiment names, or else of every metric that was published."""
    reference = Reference(run.reference_file)
    figures = run.plan.figures or [
        {"title": in_words(metric), "metric": metric} for metric in reference.metrics
    ]
    if not figures:
        text = "no numbers were published, or none are known, for this experiment"
        return [Statement(run.plan.title, NOT_COMPARABLE, text)]
    return [_statement(run, reference, figure) for figure in figures]


def in_words(metric: str) -> str:
    """`aggregate_ops_per_s`: "aggregate (ops/s)"."""
    for suffix, unit in _UNITS.items():
        if metric.endswith(suffix):
            return f"{metric.removesuffix(suffix).replace('_', ' ')} ({unit})"
    return metric.replace("_", " ")


def _statement(run: Run, reference: Reference, figure: Mapping[str, str]) -> Statement:
    title, metric = figure["title"], figure.get("metric")
    why = figure.get("not_comparable")
    if why and (metric is None or run.emulated):
        return Statement(title, NOT_COMPARABLE, why)
    published = [(cell, reference.value(metric, cell.parameters)) for cell in run.cells]
    known = [(cell, paper) for cell, paper in published if paper]
    if not known:
        text = f"nothing was published for the parameters of profile {run.plan.profile}"
        return Statement(title, NOT_COMPARABLE, text)
    pairs = [pair for cell, paper in known if (pair := _pair(cell, paper, metric))]
    if not pairs:
        text = f"no valid round of the {len(known)} cells that were published"
        return Statement(title, NOT_MEASURED, text)
    of = f"{len(pairs)} of {len(known)}" if len(pairs) < len(known) else f"{len(known)}"
    of += " published cells" if len(known) > 1 else " published cell"
    absolute = run.emulated and metric not in analysis_of(run.plan).normalized
    return Statement(title, *(_scaled(pairs, of) if absolute else _compared(pairs, of)))


def _pair(cell: CellResult, paper: float, metric: str) -> Pair | None:
    if not all(metric in turn.row for turn in cell.turns):
        return None
    measured = cell.measured(metric)
    return Pair(cell.label, paper, measured.mean) if measured and measured.mean > 0 else None


def _compared(pairs: Sequence[Pair], of: str) -> tuple[str, str]:
    """Numbers that mean the same on every testbed."""
    most, worst = _farthest(pairs, 1.0)
    within = f"within {most:.1%} in {of}"
    if most <= NEAR:
        middle = median(abs(pair.ratio - 1) for pair in pairs)
        return REPRODUCED, f"{within}, half of them within {middle:.1%}"
    state, order = _order(pairs)
    return state, f"{order}; {within}, farthest {worst}"


def _scaled(pairs: Sequence[Pair], of: str) -> tuple[str, str]:
    """Absolute numbers of a testbed that is slower by design: in proportion to each other."""
    why = "absolute numbers of an emulated testbed are not a rack's"
    if len(pairs) < 2:
        return NOT_COMPARABLE, why
    factor = exp(fmean(log(pair.ratio) for pair in pairs))
    most, worst = _farthest(pairs, factor)
    said = f"within {most:.1%} of a common factor of {factor:.3g} in {of}"
    state, order = (SHAPE, "in proportion") if most <= NEAR else _order(pairs)
    return state, f"{order}; {said}, farthest {worst}; {why}"


def _farthest(pairs: Sequence[Pair], factor: float) -> tuple[float, str]:
    """Share by which the worst is away, and its name with the number."""
    worst = max(pairs, key=lambda pair: abs(pair.ratio / factor - 1))
    away = worst.ratio / factor - 1
    return abs(away), f"{worst.label.replace(' · ', ' ')} ({away:+.1%})"


def _order(pairs: Sequence[Pair]) -> tuple[str, str]:
    """Whether what was larger in the publication is larger here."""
    kept = [
        (one.paper < other.paper) == (one.measured < other.measured)
        for one, other in combinations(pairs, 2)
        if max(one.paper, other.paper) > (1 + APART) * min(one.paper, other.paper)
    ]
    if not kept:
        return DIFFERS, "nothing published has an order that could be kept"
    share = sum(kept) / len(kept)
    return (SHAPE if share >= KEPT else DIFFERS), f"{sum(kept)} of {len(kept)} orders kept"
