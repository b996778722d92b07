"""Latency against load: the form of the paper's figure 7."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable import plot
from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.netclone.plot.lines import (
    height_in,
    is_steady,
    of_panels,
    paint,
    panels,
    undilated,
)
from turntable.systems.netclone.times import tail_us


def p99_by_load(cells: Sequence[CellResult]) -> Drawing | None:
    """A panel per distribution that was measured. Saturated cells are gaps."""
    by_panel = panels(cells, _p99_us)
    if not by_panel:
        return None

    def panel(axes: Axes, name: str) -> None:
        paint(axes, by_panel[name], _p99_us, lambda cell: cell.predicted("predicted_p99_us"))
        axes.set_ylim(0, _top_us(by_panel[name]))
        axes.set_ylabel("p99 (µs, undilated)")

    def draw(figure: Figure) -> None:
        of_panels(figure, by_panel, panel)
        figure.subplots_adjust(top=1 - 0.62 / height_in(len(by_panel)))

    shown = ", ".join(by_panel)
    description = (
        f"99th percentile of the latency against load for {shown}: measured with marks, predicted "
        "thin; saturated cells are gaps"
    )
    said = stamp.of_results(cells)
    return drawing.draw("p99_by_load", description, said, height_in(len(by_panel)), draw)


def latency(cells: Sequence[CellResult]) -> Drawing | None:
    """Distribution of few cells; of many nobody could tell them apart."""
    steady = [cell for cell in cells if is_steady(cell)]
    if not steady or len(steady) > 2 * len(drawing.SERIES):
        return None
    return plot.latency(steady, "latency", "on the testbed's clock")


def _p99_us(cell: CellResult) -> float | None:
    return undilated(cell, 99)


def _top_us(cells: Sequence[CellResult]) -> float:
    """What leaves room for all but the last steps before saturation."""
    found = [value for cell in cells if (value := _p99_us(cell)) is not None]
    return min(1.1 * max(found, default=1.0), 4 * tail_us(cells[0].parameters))
