"""Published numbers of all methods, and what was measured here beside them."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.farreach.plot.methods import COLOURS
from turntable_core.reference import Reference

_NOT_COMPARED = ("workload", "method")


def published(cells: Sequence[CellResult], metric: str = "normalized_throughput") -> Drawing | None:
    """The paper's bars of one metric by workload and method, with measurements as dots on them.

    Bars are for the parameters of the cells in all else; cells whose parameters were not published
    have none. None where nothing was published.
    """
    reference = Reference(cells[0].run.reference_file)
    workloads = list(dict.fromkeys(cell.parameters["workload"] for cell in cells))
    values = _published(reference, cells, workloads, metric)
    if not values:
        return None
    methods = [method for method in COLOURS if any(key[1] == method for key in values)]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        width = 0.8 / len(methods)
        for position, method in enumerate(methods):
            aside = (position - (len(methods) - 1) / 2) * width
            _bars(axes, workloads, values, method, aside, width)
            _dots(axes, workloads, cells, method, aside, metric)
        axes.set_xticks(range(len(workloads)), workloads)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel(f"{metric.replace('_', ' ')} (ratio)")
        drawing.title(axes, "Published (bars) and measured (dots)")
        drawing.legend(axes)

    description = f"{metric.replace('_', ' ')} of {', '.join(methods)}: published and measured"
    said = stamp.of_results(cells)
    return drawing.draw(f"published-{metric}", description, said, 3.2, paint)


def _published(
    reference: Reference, cells: Sequence[CellResult], workloads: Sequence[str], metric: str
) -> dict[tuple[str, str], float]:
    """By workload and method."""
    result = {}
    for cell in cells:
        others = {k: v for k, v in cell.parameters.items() if k not in _NOT_COMPARED}
        for workload in workloads:
            for method in COLOURS:
                parameters = others | {"workload": workload, "method": method}
                value = reference.value(metric, parameters)
                if value is not None:
                    result[workload, method] = value
    return result


def _bars(
    axes: Axes, workloads: Sequence[str], values: dict, method: str, aside: float, width: float
) -> None:
    present = [(i, values[w, method]) for i, w in enumerate(workloads) if (w, method) in values]
    axes.bar(
        [i + aside for i, _ in present], [value for _, value in present], width * 0.92,
        color=COLOURS[method], alpha=0.45, label=f"{method}, published",
    )  # fmt: skip


def _dots(
    axes: Axes, workloads: Sequence[str], cells: Sequence[CellResult], method: str, aside: float,
    metric: str,
) -> None:  # fmt: skip
    for cell in cells:
        result = cell.measured(metric)
        compared = cell.parameters["method"] == method and cell.paper.get(metric) is not None
        if compared and result is not None:
            axes.errorbar(
                workloads.index(cell.parameters["workload"]) + aside, result.mean,
                yerr=result.half_width, fmt="o", ms=6, color=drawing.INK, capsize=4,
            )  # fmt: skip
