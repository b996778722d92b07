"""By how much results changed from one run to another."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.comparison import Change, Comparison
from turntable.plot import drawing
from turntable.plot.drawing import Drawing

_PANELS = 3  # beside each other; a panel is a column of summary.csv


def changes(compared: Comparison) -> Drawing | None:
    """None where no cell has a result in both runs."""
    cells = [("\n→ ".join(names), found) for names, found in compared.by_cell if found]
    every = [change for _, found in cells for change in found if change.share]
    columns = [name for name in compared.columns if any(c.column == name for c in every)]
    if not columns:
        return None
    lines = -(-len(columns) // _PANELS)
    height_in = lines * (1.3 + 0.32 * len(cells)) + 0.3

    def paint(figure: Figure) -> None:
        grid = list(figure.subplots(lines, _PANELS, sharey=True, squeeze=False).flat)
        figure.subplots_adjust(wspace=0.12, hspace=0.9 / (0.6 + 0.32 * len(cells)))
        for axes, column in zip(grid, columns, strict=False):
            _panel(axes, column, [_of(found, column) for _, found in cells])
        for axes in grid[len(columns) :]:
            axes.set_axis_off()
        drawing.row_labels(grid[0], [label for label, _ in cells])
        grid[0].set_ylim(len(cells) - 0.4, -0.6)

    longest = max(len(line) for label, _ in cells for line in label.splitlines())
    left_in = 0.35 + 0.068 * longest
    description = "Change of every result from the first run to the second; the table has numbers"
    return drawing.draw("changes", description, _stamp(compared), height_in, paint, left_in=left_in)


def _of(found: Sequence[Change], column: str) -> Change | None:
    return next((change for change in found if change.column == column), None)


def _panel(axes: Axes, column: str, found: Sequence[Change | None]) -> None:
    axes.axvline(0, color=drawing.MUTED, lw=1)
    for y, change in enumerate(found):
        if change and change.share:
            width = change.share.half_width
            axes.errorbar(
                100 * change.share.mean, y, xerr=None if width is None else 100 * width, fmt="o",
                ms=6, capsize=4, color=drawing.BLUE,
            )  # fmt: skip
    axes.margins(x=0.15)
    axes.set_xlabel("change (%)")
    drawing.title(axes, column)


def _stamp(compared: Comparison) -> str:
    first, second = compared.runs
    classes = ", ".join(compared.classes)
    return (
        f"{first.name} → {second.name}  ·  means of valid rounds, 95 % interval (Welch)  ·  "
        f"fidelity class {classes}"
    )
