"""What people call the cells of a plan: the parameters that its system always names, and whatever
else tells one cell from the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.plan import Plan, Turn

DIGEST_SHOWN = 12  # digits of a SHA-256 that people are shown


def shown(value: Any) -> str:
    """A parameter's value as experiment files write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def differing_parameters(plan: Plan) -> list[str]:
    """Names of the parameters that are not the same in all cells."""
    cells = [cell.parameters for cell in plan.cells]
    names = dict.fromkeys(name for cell in cells for name in cell)  # some cells may lack some
    return [name for name in names if len({str(cell.get(name)) for cell in cells}) > 1]


def peculiar_parameters(plan: Plan) -> list[str]:
    """Of these, the ones that tell cells apart whose identity is the same; then those that are
    unusual in all cells.
    """
    always = plan.system.identity
    differing = differing_parameters(plan)
    telling = [
        name for name in differing if name not in always and not _follows_from_others(name, plan)
    ]
    first = plan.cells[0].parameters if plan.cells else {}
    unusual = [
        name
        for name, usual in plan.system.usual.items()
        if name not in differing and first.get(name, usual) != usual
    ]
    return [*telling, *unusual]


def identity(plan: Plan, parameters: Mapping[str, Any]) -> list[str]:
    """The parameters that every label names, by their values alone unless there is a phrase."""
    phrases = plan.system.phrases
    names = plan.system.identity
    return [phrases.get(name, "{}").format(shown(parameters[name])) for name in names]


def peculiarities(plan: Plan, parameters: Mapping[str, Any]) -> list[str]:
    """What tells the cell from the others, besides its identity."""
    phrases = plan.system.phrases
    return [
        phrases.get(name, f"{name} {{}}").format(shown(parameters[name]))
        for name in peculiar_parameters(plan)
        if name in parameters
    ]


def of_cell(plan: Plan, parameters: Mapping[str, Any]) -> str:
    """The identity in words, then what is peculiar."""
    return ", ".join([" ".join(identity(plan, parameters)), *peculiarities(plan, parameters)])


def of_turn(plan: Plan, turn: Turn) -> str:
    """As of_cell; `, round 1` comes after where there are several."""
    label = of_cell(plan, turn.cell.parameters)
    return f"{label}, round {turn.round}" if plan.rounds > 1 else label


def _follows_from_others(name: str, plan: Plan) -> bool:
    """Whether the identity fixes this parameter already, as a longer window for some cells."""
    values: dict[tuple[Any, ...], set[Any]] = {}
    for cell in plan.cells:
        key = tuple(cell.parameters[other] for other in plan.system.identity)
        values.setdefault(key, set()).add(cell.parameters.get(name))
    return all(len(found) == 1 for found in values.values())
