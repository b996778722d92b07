"""Latency against the offered load of open loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.shadowfax.plot import numbers

_HEIGHT_IN = 3.6
_PERCENTILES: Mapping[str, float] = {"median": 50, "p99": 99, "p99.9": 99.9}


def by_load(cells: Sequence[CellResult]) -> Drawing | None:
    """None unless cells with several offered loads have latencies."""
    shown = sorted(
        (cell for cell in cells if cell.parameters["rate_per_s"] and cell.latency.values),
        key=lambda cell: cell.parameters["rate_per_s"],
    )
    loads = [cell.parameters["rate_per_s"] for cell in shown]
    if len(set(loads)) < 2 or len(set(loads)) < len(loads):
        return None  # what else differs has its own figures

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for index, (name, percent) in enumerate(_PERCENTILES.items()):
            axes.plot(
                loads,
                [cell.latency.percentile(percent) for cell in shown],
                color=drawing.SERIES[index],
                marker=drawing.MARKERS[index],
                ms=4,
                label=name,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        numbers.write(axes.xaxis)
        numbers.write(axes.yaxis)
        axes.set_xlabel("offered operations/s (logarithmic)")
        axes.set_ylabel("latency from the intended instant (µs)")
        drawing.title(axes, "Latency by load, merged histograms")
        drawing.legend_beside(axes)

    described = "Latency of operations, from their intended instants, against the offered load"
    return drawing.draw("by_load", described, stamp.of_results(shown), _HEIGHT_IN, paint)
