"""What people call the cells of a plan: workload, method and servers, and whatever else tells one
cell from the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.plan import Plan, Turn

# Every label names these; other parameters only where they differ between cells.
ALWAYS = ("workload", "method", "servers")
_WORDS = {"value_update_delay_us": "updates after {} µs"}  # others: the name, then the value


def shown(value: Any) -> str:
    """A parameter's value as experiment files write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def differing_parameters(plan: Plan) -> list[str]:
    """Names of the parameters that are not the same in all cells."""
    cells = [cell.parameters for cell in plan.cells]
    names = dict.fromkeys(name for cell in cells for name in cell)  # a method may lack some
    return [name for name in names if len({str(cell.get(name)) for cell in cells}) > 1]


def peculiarities(plan: Plan, parameters: Mapping[str, Any]) -> list[str]:
    """What tells the cell from the others, besides ALWAYS."""
    return [
        _WORDS.get(name, f"{name} {{}}").format(shown(parameters[name]))
        for name in differing_parameters(plan)
        if name in parameters and name not in ALWAYS and not _follows_from_others(name, plan)
    ]


def of_turn(plan: Plan, turn: Turn) -> str:
    """`workloada nocache 16, cache_size 100, round 1`; the round only where there are several."""
    parameters = turn.cell.parameters
    words = [" ".join(shown(parameters[name]) for name in ALWAYS)]
    words += peculiarities(plan, parameters)
    if plan.rounds > 1:
        words.append(f"round {turn.round}")
    return ", ".join(words)


def _follows_from_others(name: str, plan: Plan) -> bool:
    """Whether ALWAYS fix this parameter already, as a longer window for 16 servers."""
    values: dict[tuple[Any, ...], set[Any]] = {}
    for cell in plan.cells:
        key = tuple(cell.parameters[other] for other in ALWAYS)
        values.setdefault(key, set()).add(cell.parameters.get(name))
    return all(len(found) == 1 for found in values.values())
