"""Stores beside each other, at equal batches and pipelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.shadowfax.plot import numbers

_HEIGHT_IN = 3.6
_RATE = "aggregate_ops_per_s"
_NAMES: Mapping[str, str] = {
    "shadowfax": "Shadowfax",
    "memcached": "memcached",
    "redis": "Redis",
}
_TITLES: Mapping[str, str] = {"rmw": "Additions", "c": "Reads"}
_GROUP = 0.8  # of the distance of two groups of bars


def beside(cells: Sequence[CellResult]) -> Drawing | None:
    """A group of bars for each size of a batch, a panel for each workload. None unless several
    stores were measured, and nothing else differs.
    """
    shown = [cell for cell in cells if cell.measured(_RATE) and cell.parameters.get("store")]
    by_place = {_place(cell): cell for cell in shown}
    if len({store for _, _, store in by_place}) < 2 or len(by_place) < len(shown):
        return None
    workloads = sorted({workload for workload, _, _ in by_place}, reverse=True)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(workloads), sharey=True, squeeze=False)[0]
        figure.subplots_adjust(wspace=0.08)
        for axes, workload in zip(panels, workloads, strict=True):
            _paint(axes, [cell for cell in shown if cell.parameters["workload"] == workload])
            drawing.title(axes, _TITLES.get(workload, f"Workload {workload}"))
        panels[0].set_ylabel("throughput (million operations/s, logarithmic)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="upper right", bbox_to_anchor=(0.99, 1.0), ncols=len(labels),
            borderaxespad=0.1,
        )  # fmt: skip

    described = "Throughput of the stores at equal batches and pipelines"
    return drawing.draw("beside", described, stamp.of_results(shown), _HEIGHT_IN, paint)


def _place(cell: CellResult) -> tuple[str, int, str]:
    parameters = cell.parameters
    return parameters["workload"], parameters["batch_operations"], parameters["store"]


def _paint(axes: Axes, cells: Sequence[CellResult]) -> None:
    sizes = sorted({cell.parameters["batch_operations"] for cell in cells})
    stores = [name for name in _NAMES if any(cell.parameters["store"] == name for cell in cells)]
    width = _GROUP / len(stores)
    for index, store in enumerate(stores):
        of_store = [cell for cell in cells if cell.parameters["store"] == store]
        found = [(cell.parameters["batch_operations"], cell.measured(_RATE)) for cell in of_store]
        known = [(size, estimate) for size, estimate in found if estimate is not None]
        bars = axes.bar(
            [sizes.index(size) + (index + 0.5) * width - _GROUP / 2 for size, _ in known],
            [estimate.mean / 1e6 for _, estimate in known],
            width,
            yerr=[(estimate.half_width or 0) / 1e6 for _, estimate in known],
            capsize=2,
            color=drawing.SERIES[index],
            label=_NAMES[store],
        )
        axes.bar_label(bars, fmt=lambda rate: f"{rate:.3g}", fontsize=8, padding=1)
    axes.set_yscale("log")
    numbers.write(axes.yaxis)
    axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
    axes.set_xlabel("operations in a batch")
    axes.grid(visible=False, axis="x")
