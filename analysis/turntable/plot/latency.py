"""Latency: distribution over all operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from turntable.histograms import Merged
from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult

# Curve points are kept where the share has grown by this much; finer is not visible.
_CURVE_STEP = 0.002


def latency(
    cells: Sequence[CellResult],
    what: str = "latency",
    circumstances: str = "",
    style_of: Callable[[CellResult], Mapping[str, Any]] | None = None,
) -> Drawing | None:
    """Cumulative distribution of each cell's merged histograms; None without a valid round.

    what, circumstances: words for the axis, as "queueing latency" and "in a closed loop". style_of:
    colour and line of a cell's curve, where a system has its own.
    """
    curves = [(cell, cell.latency) for cell in cells if cell.latency.values]
    if not curves:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for index, (cell, merged) in enumerate(curves):
            style = style_of(cell) if style_of else _style(index)
            axes.step(*curve(merged), where="post", label=cell.label, lw=1.6, **style)
        axes.set_xscale("log")
        axes.set_ylim(0, 1.005)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(visible=True, which="minor", axis="x", lw=0.3)
        axes.set_xlabel(" ".join(filter(None, (what, circumstances, "(µs, logarithmic)"))))
        axes.set_ylabel("share of operations (cumulative)")
        drawing.title(axes, f"{what.capitalize()}, merged histograms")
        drawing.legend_beside(axes)

    medians = ", ".join(f"{cell.label} {merged.percentile(50):,.0f}" for cell, merged in curves)
    description = f"Cumulative distribution of the {what}. Medians in µs: {medians}"
    height_in = max(3.4, drawing.legend_in(len(curves)))
    return drawing.draw("latency", description, stamp.of_results(cells), height_in, paint)


def _style(index: int) -> dict[str, Any]:
    """Of the curve with this number."""
    count = len(drawing.SERIES)
    return {"color": drawing.SERIES[index % count], "ls": ("-", "--", ":")[index // count % 3]}


def curve(merged: Merged) -> tuple[list[float], list[float]]:
    """(µs, cumulative share), ascending, ending at 1; thinned to what can be seen."""
    total = merged.total
    xs, ys, seen = [merged.values[0]], [0.0], 0.0
    for value, weight in zip(merged.values, merged.weights, strict=True):
        seen += weight
        if seen / total - ys[-1] >= _CURVE_STEP:
            xs.append(value)
            ys.append(seen / total)
    return [*xs, merged.values[-1]], [*ys, 1.0]
