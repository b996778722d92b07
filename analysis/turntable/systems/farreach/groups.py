"""What the cells of an experiment are told apart by, beside their method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from turntable.results import CellResult
from turntable_core.labels import differing_parameters, shown
from turntable_systems.farreach.methods import compared


def factors(cells: Sequence[CellResult]) -> list[str]:
    """Names of the parameters that tell cells of one method apart, without those that follow from
    others, as a shorter window where there are more servers.
    """
    plan, comparable = cells[0].run.plan, compared(cells[0].parameters)
    differing = [name for name in differing_parameters(plan) if name in comparable]
    chosen: list[str] = []
    for name in sorted(differing, key=lambda name: name not in plan.system.identity):
        if len(_groups(cells, [*chosen, name])) > len(_groups(cells, chosen)):
            chosen.append(name)
    return chosen


def group(cell: CellResult, names: Sequence[str]) -> str:
    """The cell's levels of these."""
    return " · ".join(shown(cell.parameters[name]) for name in names)


def _groups(cells: Iterable[CellResult], names: Sequence[str]) -> set[str]:
    return {group(cell, names) for cell in cells}
