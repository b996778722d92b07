"""What a series of experiments will take, each and together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turntable_core import estimate
from turntable_core.estimate import Estimate, Work
from turntable_core.plan import Plan
from turntable_core.text_table import columns, duration, size


@dataclass(frozen=True)
class Part:
    """One experiment's."""

    experiment: str  # SYSTEM/NAME
    plan: Plan
    work: Work  # what it measures itself
    shared: int  # iterations that it takes from those before it
    expected: Estimate


def total_s(parts: Sequence[Part]) -> float:
    return sum(part.expected.total_s for part in parts)


def render(run: str, parts: Sequence[Part], results: Path) -> str:
    """A line per experiment, and the sums."""
    head = ("experiment", "profile", "cells", "rounds", "to measure", "shared", "windows", "time")
    rows = [_row(part) for part in parts]
    whole = (
        *("together", "", "", ""),
        sum(len(part.work) for part in parts),
        sum(part.shared for part in parts),
        duration(sum(part.expected.window_s for part in parts)),
        duration(total_s(parts)),
    )
    raw = sum(part.expected.raw_bytes for part in parts)
    stores = sum(part.expected.preparation.disk_bytes for part in parts)
    what = next(
        (p.expected.preparation.disk_of for p in parts if p.expected.preparation.disk_of), ""
    )
    lines = [
        f"run {run}: {len(parts)} experiments",
        "",
        *columns([head, *rows, whole], right=range(2, len(head))),
        "(shared: iterations that an experiment before it measures, which counts them)",
        f"disk  {size(raw)} of raw files in {results}, {size(estimate.free_bytes(results))} free",
    ]
    if stores:
        lines.append(f"      {size(stores)} of {what}, at most")
    return "\n".join(lines)


def _row(part: Part) -> tuple[object, ...]:
    plan, expected = part.plan, part.expected
    return (
        *(part.experiment, plan.profile, len(plan.cells), plan.rounds),
        f"{len(part.work)} of {plan.iteration_count}",
        part.shared,
        duration(expected.window_s),
        duration(expected.total_s),
    )
