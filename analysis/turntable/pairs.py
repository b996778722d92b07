"""Which cells of two runs belong together: those that agree in what tells the cells of either run
apart.

That are the factors. A constant that depends on a factor tells nothing more than the factor does,
so it may differ, as any constant may: it is what the runs are compared for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turntable.results import CellResult, Run
from turntable_core.labels import differing_parameters, shown
from turntable_core.plan import Cell, Plan


@dataclass(frozen=True)
class Pairs:
    """Every cell of both runs is in one of the three."""

    pairs: Sequence[tuple[CellResult, CellResult]]
    only_first: Sequence[CellResult]
    only_second: Sequence[CellResult]


def pairs_of(first: Run, second: Run) -> Pairs:
    names = [*dict.fromkeys([*telling(first.plan), *telling(second.plan)])]
    ones, others = ({_place(cell, names): cell for cell in run.cells} for run in (first, second))
    return Pairs(
        [(cell, others[place]) for place, cell in ones.items() if place in others],
        [cell for place, cell in ones.items() if place not in others],
        [cell for place, cell in others.items() if place not in ones],
    )


def telling(plan: Plan) -> list[str]:
    """The fewest parameters that tell all cells apart: a plan has its factors first."""
    names: list[str] = []
    for name in differing_parameters(plan):
        if len({_place(cell, [*names, name]) for cell in plan.cells}) > len(
            {_place(cell, names) for cell in plan.cells}
        ):
            names.append(name)
    return names


def _place(cell: Cell | CellResult, names: Sequence[str]) -> tuple[str | None, ...]:
    """None: a parameter that the cell does not have."""
    values = (cell.parameters.get(name) for name in names)
    return tuple(None if value is None else shown(value) for value in values)
