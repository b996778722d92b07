"""Figure of latency by target throughput: a panel per statistic, a line per method."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.farreach.plot.bars import PAPER_MARK
from turntable.systems.farreach.plot.methods import COLOURS
from turntable.systems.farreach.targets import Target, targets

_PANELS = ("mean", "p50", "p95", "p99")
_MARKERS = dict(zip(COLOURS, drawing.MARKERS, strict=False))
_HEIGHT_IN = 5.6


def latency_by_target(cells: Sequence[CellResult]) -> Drawing | None:
    """None without an open loop that has a result."""
    rows = [row for row in targets(cells) if row.latency_us["mean"] is not None]
    if not rows:
        return None

    def paint(figure: Figure) -> None:
        every = figure.subplots(2, 2, sharex=True)
        figure.subplots_adjust(wspace=0.12, hspace=0.2, top=1 - 0.62 / _HEIGHT_IN)
        handles = {}
        for axes, name in zip(every.flat, _PANELS, strict=True):
            _panel(axes, rows, name)
            handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        for axes in every[1]:
            axes.set_xlabel(_x_label(rows))
        for axes in every[:, 0]:
            axes.set_ylabel("µs (logarithmic)")
        # Above the panels: nothing that it could cover is there.
        figure.legend(
            list(handles.values()), list(handles), loc="upper right", bbox_to_anchor=(0.99, 1.0),
            ncols=len(handles), borderaxespad=0.1,
        )  # fmt: skip

    description = "Latency from the intended instants by target throughput: " + "; ".join(
        f"{row.cell.label}: mean {row.latency_us['mean']:,.0f} µs, p99 "
        f"{row.latency_us['p99'] or nan:,.0f}"
        for row in rows
    )
    said = stamp.of_results(cells)
    return drawing.draw("latency-by-target", description, said, _HEIGHT_IN, paint)


def _panel(axes: Axes, rows: Sequence[Target], name: str) -> None:
    for method, colour in COLOURS.items():
        group = sorted((row for row in rows if row.method == method), key=_x)
        if not group:
            continue
        xs = [_x(row) for row in group]
        ys = [_or_gap(row.latency_us[name]) for row in group]
        axes.plot(xs, ys, marker=_MARKERS[method], ms=5, lw=1.5, color=colour, label=method)
        predicted = [_or_gap(row.predicted_mean_us) for row in group]
        if name == "mean" and not all(map(isnan, predicted)):
            axes.plot(xs, predicted, lw=1, ls="--", color=colour, label=f"{method}: M/D/1")
        paper = [(_x(row), row.paper_us.get(name)) for row in group]
        marks = [(x, y) for x, y in paper if y is not None]
        if marks:
            style = PAPER_MARK | {"mec": colour}
            axes.plot(*zip(*marks, strict=True), ls="", label=f"{method}: paper", **style)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(0, 1.06 * max(map(_x, rows)))
    drawing.title(axes, f"{name} latency")


def _x(row: Target) -> float:
    return row.share if row.share is not None else (row.target_ops_per_s or nan) / 1e6


def _x_label(rows: Sequence[Target]) -> str:
    if all(row.share is not None for row in rows):
        return "target throughput (share of the method's maximum)"
    return "target throughput (MOPS)"


def _or_gap(value: float | None) -> float:
    return nan if value is None else value
