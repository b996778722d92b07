"""Figure of NetCache under writes: what its value updates cost, measured and by the model."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.farreach.gains import write_back
from turntable.systems.farreach.plot.methods import COLOURS
from turntable.systems.farreach.updates import Comparison, comparisons, is_write_through
from turntable.systems.farreach.write_through import model_curve

_COLOUR = COLOURS["netcache"]  # it is what is varied; a workload has a marker


def updates(cells: Sequence[CellResult]) -> Drawing | None:
    """FarReach / NetCache and normalized NetCache over u c; None where u was not varied."""
    rows = comparisons(cells)
    netcache = [cell.parameters for cell in cells if is_write_through(cell)]
    delays = {parameters.get("value_update_delay_us", 0) for parameters in netcache}
    if len(rows) < 2 or len(delays) < 2:
        return None
    workloads = list(dict.fromkeys(row.workload for row in rows))
    longest = max(row.in_services for row in rows)

    def paint(figure: Figure) -> None:
        ratios, normalized = figure.subplots(1, 2)
        figure.subplots_adjust(wspace=0.18)
        for index, workload in enumerate(workloads):
            marker = drawing.MARKERS[index]
            chosen = [row for row in rows if row.workload == workload]
            _curves(ratios, normalized, _first(cells, workload), cells, longest)
            _dots(ratios, chosen, "ratio", f"{workload}: measured", marker)
            _dots(normalized, chosen, "normalized", f"{workload}: measured", marker)
        drawing.title(ratios, "FarReach / NetCache, aggregate throughput")
        drawing.title(normalized, "NetCache, normalized throughput")
        for axes, label in ((ratios, "ratio"), (normalized, "total / busiest server (ratio)")):
            axes.set_xlim(0, longest * 1.08)
            axes.set_ylim(0, 1.12 * axes.dataLim.y1)
            axes.set_xlabel("u · c: round trip of a value update, in service times")
            axes.set_ylabel(label)
        drawing.legend_beside(normalized)

    description = (
        "FarReach's throughput relative to NetCache's, and NetCache's normalized throughput, over "
        "the round trip of value updates; the table before has the numbers"
    )
    return drawing.draw("updates", description, stamp.of_results(cells), 3.4, paint)


def _first(cells: Sequence[CellResult], workload: str) -> CellResult:
    """Any of the workload's cells of NetCache: their traces are the same."""
    return next(
        cell for cell in cells if is_write_through(cell) and cell.parameters["workload"] == workload
    )


def _curves(
    ratios: Axes,
    normalized: Axes,
    cell: CellResult,
    cells: Sequence[CellResult],
    longest: float,
) -> None:
    curve = model_curve(cell.shown[0].prediction)
    last = next((i for i, (u, _) in enumerate(curve) if u >= longest), len(curve) - 1)
    shown = curve[: last + 1]
    name, style = f"{cell.parameters['workload']}: model", {"color": _COLOUR, "lw": 1, "ls": "--"}
    other = write_back(cell, cells)
    units = other.shown[0].prediction.trace.normalized if other else None
    if units is not None:
        ratios.plot([u for u, _ in shown], [units / a.total for _, a in shown], label=name, **style)
    normalized.plot([u for u, _ in shown], [a.normalized for _, a in shown], label=name, **style)


def _dots(axes: Axes, rows: Sequence[Comparison], field: str, name: str, marker: str) -> None:
    points = [(row.in_services, getattr(row, field)) for row in rows]
    present = [(x, y) for x, y in points if y is not None]
    xs, ys = [x for x, _ in present], [y for _, y in present]
    axes.plot(xs, ys, marker, ms=6, color=_COLOUR, label=name)
