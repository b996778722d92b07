"""How many requests are cloned, and how many answers come twice."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.netclone.plot.lines import height_in, of_panels, paint, panels


def clones_by_load(cells: Sequence[CellResult]) -> Drawing | None:
    """Of methods that decide by load; None where no cell has one."""
    deciding = [c for c in cells if c.parameters["method"] not in ("noclone", "cclone")]
    return _by_load(
        deciding, "clone_rate", "share of requests that are cloned", "predicted_clone_rate"
    )


def redundant_by_load(cells: Sequence[CellResult]) -> Drawing | None:
    """None where all cells have the filter, or none has it."""
    if len({cell.parameters.get("filter") for cell in cells}) == 1:
        return None
    return _by_load(cells, "redundant_share", "redundant answers per request", None)


def idle_signal(cells: Sequence[CellResult]) -> Drawing | None:
    """Of runs of NetClone alone, at several loads: how many reports of an empty queue were true."""
    methods, loads = ({cell.parameters.get(n) for cell in cells} for n in ("method", "load"))
    if methods != {"netclone"} or len(loads) == 1:
        return None
    label = "reports of an empty queue that were true"
    return _by_load(cells, "empty_true_share", label, None)


def _by_load(
    cells: Sequence[CellResult], column: str, label: str, predicted: str | None
) -> Drawing | None:
    def measured(cell: CellResult) -> float | None:
        result = cell.measured(column)
        return result.mean if result else None

    by_panel = panels(cells, measured)
    if not by_panel:
        return None

    def panel(axes: Axes, name: str) -> None:
        thin = (lambda cell: cell.predicted(predicted)) if predicted else None
        paint(axes, by_panel[name], measured, thin)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(label)

    def draw(figure: Figure) -> None:
        of_panels(figure, by_panel, panel)
        figure.subplots_adjust(top=1 - 0.62 / height_in(len(by_panel)))

    said = stamp.of_results(cells)
    description = f"{label.capitalize()}, against load, for {', '.join(by_panel)}"
    return drawing.draw(column, description, said, height_in(len(by_panel)), draw)
