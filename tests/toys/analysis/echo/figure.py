"""Latency against load."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult

PERCENTILES = (50, 99)


def latency_by_load(cells: Sequence[CellResult]) -> Drawing | None:
    """None without a valid round."""
    measured = sorted(
        (cell for cell in cells if cell.counted), key=lambda cell: cell.parameters["rate_per_s"]
    )
    if not measured:
        return None
    loads = [cell.measured("offered_per_s").mean for cell in measured]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for index, percent in enumerate(PERCENTILES):
            values = [cell.latency.percentile(percent) for cell in measured]
            axes.plot(
                loads,
                values,
                color=drawing.SERIES[index],
                marker=drawing.MARKERS[index],
                label=f"p{percent}",
            )
        axes.set_xlabel("offered load (requests/s)")
        axes.set_ylabel("latency (µs, logarithmic)")
        axes.set_yscale("log")
        drawing.title(axes, "Latency by load")
        drawing.legend(axes)

    last = measured[-1]
    description = f"At {last.label} p99 is {last.latency.percentile(99):,.0f} µs"
    return drawing.draw("latency_by_load", description, stamp.of_results(cells), 3.2, paint)
