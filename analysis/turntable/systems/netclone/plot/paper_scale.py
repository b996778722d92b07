"""The shape at the paper's own scale, six servers of 15 workers: of a queueing model, since the
paper's numbers are published as a figure only (experiments/reference/netclone_model.csv).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing
from turntable.plot.drawing import Drawing
from turntable.results import EXPERIMENTS, CellResult
from turntable.systems.netclone.plot.lines import COLOURS, MARKS, height_in, of_panels

_FILE = EXPERIMENTS / "reference" / "netclone_model.csv"
_SERVERS, _WORKERS, _JITTER = "6", "15", "0.01"

Curves = dict[str, dict[str, list[tuple[float, float]]]]  # distribution, method: (load, us)


def paper_scale(cells: Sequence[CellResult]) -> Drawing | None:
    """Of the distributions that were measured; None where the run has one load, or the model none
    of them.
    """
    shown = {cell.parameters["distribution"] for cell in cells if cell.counted}
    if len({cell.parameters.get("load") for cell in cells}) == 1:
        return None
    curves = {name: methods for name, methods in _read().items() if name in shown}
    if not curves:
        return None

    def panel(axes: Axes, name: str) -> None:
        _paint(axes, curves[name])

    def draw(figure: Figure) -> None:
        of_panels(figure, dict.fromkeys(curves, ()), panel)
        figure.subplots_adjust(top=1 - 0.62 / height_in(len(curves)))

    description = "99th percentile against load in a queueing model of six servers of 15 workers"
    stamp = "a queueing model, nothing measured; 2 us per way, no limit of a network"
    return drawing.draw("paper_scale", description, stamp, height_in(len(curves)), draw)


def _paint(axes: Axes, methods: Mapping[str, list[tuple[float, float]]]) -> None:
    for method, points in methods.items():
        loads, values = zip(*sorted(points), strict=True)
        look = {"color": COLOURS[method], "marker": MARKS[method]}
        axes.plot(loads, values, ms=4, label=method, **look)
    axes.set_ylim(0, 700)
    axes.set_xlabel("offered load (share of the workers' time)")
    axes.set_ylabel("p99 (µs)")


def _read() -> Curves:
    curves: Curves = {}
    with _FILE.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if (row["servers"], row["workers"], row["jitter_probability"]) == (
                _SERVERS,
                _WORKERS,
                _JITTER,
            ):
                points = curves.setdefault(row["distribution"], {}).setdefault(row["method"], [])
                points.append((float(row["load"]), float(row["value"])))
    return curves
