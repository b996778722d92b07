"""What the figures against load have in common: a panel per distribution, a line per method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing
from turntable.results import CellResult
from turntable.systems.netclone import peculiar
from turntable.systems.netclone.saturation import STEADY

METHODS = ("noclone", "cclone", "netclone", "netclone-racksched", "laedge")
COLOURS = dict(zip(METHODS, drawing.SERIES, strict=False))
MARKS = dict(zip(METHODS, drawing.MARKERS, strict=False))
STYLES = ("-", "--", ":", "-.")

Lines = Mapping[tuple[str, str], Sequence[CellResult]]  # by method and what else is peculiar
Value = Callable[[CellResult], float | None]


def panels(cells: Iterable[CellResult], value: Value) -> dict[str, list[CellResult]]:
    """By distribution: those of which a cell has a value."""
    found: dict[str, list[CellResult]] = {}
    for cell in cells:
        found.setdefault(cell.parameters["distribution"], []).append(cell)
    return {
        name: group
        for name, group in found.items()
        if any(value(cell) is not None for cell in group)
    }


def lines(cells: Sequence[CellResult]) -> Lines:
    """Cells in the order of their load."""
    differing = peculiar.differing(cells)
    found: dict[tuple[str, str], list[CellResult]] = {}
    for cell in sorted(cells, key=load_of):
        words = peculiar.words(cell.parameters, differing)
        found.setdefault((cell.parameters["method"], words), []).append(cell)
    return found


def load_of(cell: CellResult) -> float:
    return cell.turns[0].row["load"]


def is_steady(cell: CellResult) -> bool:
    return bool(cell.counted) and all(turn.row["state"] == STEADY for turn in cell.counted)


def undilated(cell: CellResult, percent: float) -> float | None:
    """Of the merged histograms of all valid rounds; None where the cell is saturated."""
    value = cell.latency.percentile(percent) if is_steady(cell) else None
    return None if value is None else value / cell.parameters["dilation"]


def paint(axes: Axes, cells: Sequence[CellResult], value: Value, thin: Value | None) -> None:
    """thin: of a line that is drawn thin beside, as a prediction."""
    every = lines(cells)
    styles = dict(zip(dict.fromkeys(words for _, words in every), STYLES * 4, strict=False))
    for (method, words), group in every.items():
        look = {"color": COLOURS[method], "ls": styles[words]}
        xs = [load_of(cell) for cell in group]
        label = f"{method}, {words}" if words else method
        axes.plot(xs, _gaps(group, value), marker=MARKS[method], ms=4, label=label, **look)
        if thin is not None:
            axes.plot(xs, _gaps(group, thin), lw=0.7, **look)
    axes.set_xlabel("offered load (share of the slots' time)")


def _gaps(cells: Sequence[CellResult], value: Value) -> list[float]:
    found = (value(cell) for cell in cells)
    return [nan if one is None else one for one in found]


def of_panels(
    figure: Figure, by_panel: Mapping[str, Sequence[CellResult]], each: Callable[[Axes, str], None]
) -> None:
    """At most two panels beside each other, one legend for all of them."""
    columns = min(2, len(by_panel))
    rows = -(-len(by_panel) // columns)
    every = figure.subplots(rows, columns, squeeze=False)
    figure.subplots_adjust(wspace=0.16, hspace=0.42)
    handles = {}
    for axes, name in zip(every.flat, by_panel, strict=False):
        each(axes, name)
        drawing.title(axes, name)
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    for axes in list(every.flat)[len(by_panel) :]:
        axes.set_visible(False)
    figure.legend(
        list(handles.values()), list(handles), loc="upper right", bbox_to_anchor=(0.99, 1.0),
        ncols=min(5, max(1, len(handles))), borderaxespad=0.1,
    )  # fmt: skip


def height_in(panel_count: int) -> float:
    return 1.1 + 2.5 * -(-panel_count // 2)
