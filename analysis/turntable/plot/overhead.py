"""Figure of what iterations take beyond warm-up and measuring."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult, TurnResult


def overhead(cells: Sequence[CellResult]) -> Drawing | None:
    """Wall time of every iteration beyond warm-up and measuring, in the order of the plan; None
    where it is not known of any.
    """
    turns = [(cell, turn) for cell in cells for turn in cell.turns]
    measured = [m for _, turn in turns for m in turn.measurements]
    if measured and all(m.overhead_s is None for m in measured):
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        start = 0
        values: list[float] = []
        for index, (cell, turn) in enumerate(turns):
            points = {
                start + m.iteration: m.overhead_s
                for m in turn.measurements
                if m.overhead_s is not None
            }
            color = drawing.SERIES[index % len(drawing.SERIES)]
            axes.plot(list(points), list(points.values()), "o", ms=4, color=color)
            drawing.hatch_gaps(axes, [start + i for i in turn.missing])
            _part_label(axes, len(turns), cell, turn, start)
            values += points.values()
            start += turn.expected_iterations
        if values:
            middle = median(values)
            axes.axhline(middle, color=drawing.INK, lw=1, label=f"median {middle:.2f} s")
            drawing.legend(axes)
        axes.xaxis.set_major_locator(MaxNLocator(16, integer=True, min_n_ticks=1))
        axes.set_xlim(-0.5, start - 0.5)
        axes.set_ylim(0, 1.25 * max(values, default=1))
        axes.set_xlabel("iterations in the order of the plan")
        axes.set_ylabel("overhead (s)")
        drawing.title(axes, "Overhead per iteration")

    description = "Overhead of every iteration, in the order of the plan"
    return drawing.draw("overhead", description, stamp.of_diagnostics(cells), 2.5, paint)


def _part_label(axes: Axes, parts: int, cell: CellResult, turn: TurnResult, start: int) -> None:
    """Where a cell's round begins, if there are several."""
    if start:
        axes.axvline(start - 0.5, color=drawing.MUTED, lw=0.6)
    if 1 < parts <= 12:
        text = cell.label.split(" · ")[0]
        text += f", round {turn.round}" if len(cell.turns) > 1 else ""
        axes.text(
            start - 0.4, 0.97, text, size=8, color=drawing.MUTED, va="top",
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
