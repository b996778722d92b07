"""What every figure says about itself: run, n, kind of interval, fidelity class."""

from __future__ import annotations

from collections.abc import Sequence

from turntable.results import CellResult


def of_results(cells: Sequence[CellResult]) -> str:
    return _stamp(cells, counted_rounds(cells))


def of_diagnostics(cells: Sequence[CellResult]) -> str:
    count = max(len(cell.turns) for cell in cells)
    return _stamp(cells, f"n = {count} round{'s' * (count > 1)} as measured, no interval")


def of_first_rounds(cells: Sequence[CellResult]) -> str:
    """Of each cell the first of its `shown` rounds."""
    return _stamp(cells, "one round of each cell, a valid one if there is one, no interval")


def counted_rounds(cells: Sequence[CellResult]) -> str:
    """n and the kind of interval."""
    counts = sorted({len(cell.counted) for cell in cells})
    planned = max(len(cell.turns) for cell in cells)
    if counts == [0]:
        return "no valid round"
    n = f"{counts[0]}\N{EN DASH}{counts[-1]}" if len(counts) > 1 else str(counts[0])
    noun = "round" if planned == 1 else "rounds"
    of = noun if counts == [planned] else f"of {planned} {noun} (the valid ones)"
    kind = "mean with 95 % interval (t-distribution)" if counts[-1] > 1 else "no interval"
    return f"n = {n} {of}, {kind}"


def _stamp(cells: Sequence[CellResult], n: str) -> str:
    runs = {cell.run.name: cell.run for cell in cells}
    classes = {run.fidelity_class for run in runs.values()}
    noun = "run" if len(runs) == 1 else "runs"
    return f"{noun} {', '.join(runs)}  ·  {n}  ·  fidelity class {', '.join(sorted(classes))}"
