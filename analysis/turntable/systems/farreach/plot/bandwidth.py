"""Figure of the control plane's bandwidth over the period of snapshots, with the paper's marks."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.farreach.bandwidth import traffic
from turntable_core.reference import Reference

_METRIC = "bandwidth_mib_per_s"


def bandwidth(cells: Sequence[CellResult]) -> Drawing | None:
    """A line for each pattern; None where the period is not varied, or nothing limits servers."""
    shown = [
        one.cell for one in traffic(cells) if one.cell.parameters["capacity_ops_per_s"] > 0
    ] or [one.cell for one in traffic(cells) if one.cell.paper[_METRIC] is not None]
    if not shown:
        return None
    patterns = list(dict.fromkeys(cell.parameters.get("pattern", "stable") for cell in shown))
    reference = Reference(shown[0].run.reference_file)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for index, pattern in enumerate(patterns):
            here = [c for c in shown if c.parameters.get("pattern", "stable") == pattern]
            _line(axes, here, pattern, drawing.SERIES[index], drawing.MARKERS[index], reference)
        axes.set_xlim(left=-0.4)
        axes.set_ylim(bottom=0)
        axes.set_ylim(top=1.08 * axes.get_ylim()[1])
        axes.set_xlabel("period of snapshots (s); 0: none")
        axes.set_ylabel("bytes / period (MiB/s)")
        drawing.title(axes, "Bandwidth of the control plane")
        drawing.legend(axes)

    description = "Bandwidth of the control plane over the period of snapshots, and as published"
    return drawing.draw("bandwidth", description, stamp.of_results(cells), 3.2, paint)


def _line(
    axes: Axes, cells: Sequence[CellResult], pattern: str, colour: str, marker: str,
    reference: Reference,
) -> None:  # fmt: skip
    points = sorted(
        (cell.parameters["snapshot_period_s"], found.mean)
        for cell in cells
        if (found := cell.measured(_METRIC)) is not None
    )
    if points:
        axes.plot(*zip(*points, strict=True), color=colour, marker=marker, lw=1.5, label=pattern)
    paper = sorted(
        (cell.parameters["snapshot_period_s"], value)
        for cell in cells
        if (value := reference.value(_METRIC, cell.parameters)) is not None
    )
    if paper:
        axes.plot(
            *zip(*paper, strict=True), color=colour, marker=marker, mfc="none", ls="", ms=8,
            label=f"{pattern}, published",
        )  # fmt: skip
