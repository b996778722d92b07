"""How the compared methods look, the same in every figure: told apart with every common kind of
colour vision, and in print by their hatches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from turntable.plot import drawing
from turntable.results import CellResult
from turntable.systems.farreach.groups import factors, group

COLOURS = {"farreach": drawing.BLUE, "netcache": drawing.ORANGE, "nocache": drawing.GREEN}
_HATCHES = {"farreach": "", "netcache": "///", "nocache": "..."}
_DASHES = (
    *("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 4))),
    *((0, (1, 4)), (0, (10, 2, 3, 2)), (0, (2, 2)), (0, (12, 2, 1, 2, 1, 2)), (0, (4, 5))),
    (0, (14, 3)),
)


def bar_style(method: str) -> dict[str, Any]:
    """Of axes.bar()."""
    return {
        "color": COLOURS[method], "hatch": _HATCHES[method], "edgecolor": drawing.PAPER, "lw": 0,
    }  # fmt: skip


def line_styles(cells: Sequence[CellResult]) -> Callable[[CellResult], Mapping[str, Any]]:
    """A curve has its method's colour, and the dashes of what else tells its cell apart."""
    names = factors(cells)
    # Of the group, and of what only this method has: there by the order.
    keys = {cell.id: (group(cell, names), _number(cell, cells, names)) for cell in cells}
    ordered = sorted(dict.fromkeys(keys.values()), key=lambda key: key[1])

    def style_of(cell: CellResult) -> Mapping[str, Any]:
        dashes = _DASHES[ordered.index(keys[cell.id]) % len(_DASHES)]
        return {"color": COLOURS[cell.parameters["method"]], "ls": dashes}

    return style_of


def _number(cell: CellResult, cells: Sequence[CellResult], names: Sequence[str]) -> int:
    """Among the cells of its method and group, from 0."""
    method = cell.parameters["method"]
    alike = (
        other.id
        for other in cells
        if other.parameters["method"] == method and group(other, names) == group(cell, names)
    )
    return list(dict.fromkeys(alike)).index(cell.id)
