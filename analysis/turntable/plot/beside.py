"""Results of two runs beside each other, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from turntable.comparison import NAMES, Change, Comparison
from turntable.plot import drawing
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.system import analysis_of

_PANELS = 3  # beside each other; a panel is a column of summary.csv
_ASIDE = 0.16  # of a run's mark from the cell's line
_PAPER = {"marker": "s", "mfc": "none", "mec": drawing.VERMILION, "ms": 9, "mew": 1.5}
_HEAD_IN, _LINE_IN = 0.75, 1.1

Found = tuple[CellResult, Sequence[Change]]  # of the first run, and the cell's results in both


def beside(compared: Comparison) -> Drawing | None:
    """None where neither run has a result that may be compared."""
    names = ["\n→ ".join(labels) for labels, found in compared.by_cell if found]
    cells: list[Found] = [
        (one, found)
        for (one, _), (_, found) in zip(compared.pairs.pairs, compared.by_cell, strict=True)
        if found
    ]
    present = {change.column for _, found in cells for change in found}
    columns = [column for column in compared.columns if column in present]
    if not columns:
        return None
    lines = -(-len(columns) // _PANELS)
    panel_in = 0.42 * len(cells) + 0.3
    height_in = _HEAD_IN + lines * (panel_in + _LINE_IN)

    def paint(figure: Figure) -> None:
        grid = list(figure.subplots(lines, _PANELS, sharey=True, squeeze=False).flat)
        figure.subplots_adjust(
            wspace=0.12, hspace=_LINE_IN / panel_in, top=1 - _HEAD_IN / height_in
        )
        papers = [_panel(*each, cells) for each in zip(grid, columns, strict=False)]
        for axes in grid[len(columns) :]:
            axes.set_axis_off()
        drawing.row_labels(grid[0], names)
        grid[0].set_ylim(len(cells) - 0.4, -0.6)
        handles = _handles(compared, papers=any(papers))
        figure.legend(
            handles=handles, loc="upper right", ncols=len(handles), bbox_to_anchor=(0.99, 1.0),
            borderaxespad=0.1,
        )  # fmt: skip

    left_in = 0.35 + 0.068 * max(len(line) for name in names for line in name.splitlines())
    description = "Results of both runs, cell by cell; the table has the numbers"
    stamp = "means of valid rounds, 95 % interval (t-distribution)  ·  fidelity class " + ", ".join(
        run.fidelity_class for run in compared.runs
    )
    return drawing.draw("beside", description, stamp, height_in, paint, left_in=left_in)


def _panel(axes: Axes, column: str, cells: Sequence[Found]) -> bool:
    """Whether something published is in it."""
    published = False
    for y, (cell, found) in enumerate(cells):
        colour = analysis_of(cell.run.plan).colour(cell.parameters) or drawing.INK
        change = next((change for change in found if change.column == column), None)
        paper = cell.paper.get(column)
        if paper is not None:
            axes.plot(paper, y, ls="", zorder=2, **_PAPER)
            published = True
        results = (change.first, change.second) if change else ()
        for index, result in enumerate(results):
            if result is not None:
                axes.errorbar(
                    result.mean, y + _ASIDE * (2 * index - 1), xerr=result.half_width, capsize=3,
                    zorder=3, color=colour, **_mark(index),
                )  # fmt: skip
    axes.margins(x=0.12)
    drawing.title(axes, column)
    return published


def _mark(index: int) -> dict[str, object]:
    """Of the first run open, of the second full."""
    return {"fmt": "o", "ms": 6} | ({"mfc": drawing.PAPER} if index == 0 else {})


def _handles(compared: Comparison, *, papers: bool) -> list[Line2D]:
    marks = [
        Line2D(
            [], [], ls="", marker="o", ms=6, color=drawing.MUTED, label=f"{name}: {run.name}",
            mfc=drawing.PAPER if index == 0 else drawing.MUTED,
        )
        for index, (name, run) in enumerate(zip(NAMES, compared.runs, strict=True))
    ]  # fmt: skip
    return [*marks, *([Line2D([], [], ls="", label="paper", **_PAPER)] if papers else [])]
