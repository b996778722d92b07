"""Figure of popularity that changes: every second of each method, with marks at the changes."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.farreach import dynamic as of_changes
from turntable.systems.farreach.plot.methods import COLOURS, line_styles
from turntable_systems.farreach import popularity

# NetCache's line and NoCache's are one where all requests are writes.
_LINES = {"nocache": "--"}
_FEW = 3  # names that have room beside the stamp
_GAP = {"ha": "right", "va": "bottom", "size": 8, "style": "italic", "color": drawing.ALERT}


def dynamic(cells: Sequence[CellResult]) -> Drawing | None:
    """A panel for each workload and pattern; None where popularity is not played with."""
    shown = [
        cell
        for cell in cells
        if popularity.is_played(cell.parameters) and of_changes.seconds_of(cell)
    ]
    if not shown:
        return None
    workloads = list(dict.fromkeys(cell.parameters["workload"] for cell in shown))
    patterns = list(dict.fromkeys(cell.parameters["pattern"] for cell in shown))
    highest = max(s.normalized or 0 for cell in shown for s in of_changes.seconds_of(cell))

    height_in = 1.2 + 1.75 * len(patterns)

    def paint(figure: Figure) -> None:
        grid = figure.subplots(len(patterns), len(workloads), squeeze=False, sharex=True)
        figure.subplots_adjust(wspace=0.14, hspace=0.5)
        for row, pattern in enumerate(patterns):
            for column, workload in enumerate(workloads):
                axes = grid[row][column]
                here = [
                    cell
                    for cell in shown
                    if (cell.parameters["workload"], cell.parameters["pattern"])
                    == (workload, pattern)
                ]
                _panel(axes, here)
                axes.set_ylim(0, 1.1 * highest)
                drawing.title(axes, f"{pattern}, {workload}")
                if column == 0:
                    axes.set_ylabel("normalized (ratio)")
        for axes in grid[-1]:
            axes.set_xlabel("time in the measurement window (s)")
        handles = {line.get_label(): line for axes in grid.flat for line in axes.get_lines()}
        named = {name: line for name, line in handles.items() if not name.startswith("_")}
        columns = 4 if len(named) <= _FEW else 1
        figure.legend(
            named.values(), named.keys(), loc="lower left", bbox_to_anchor=(0.06, 0.0),
            ncols=columns,
        )  # fmt: skip
        # Below all panels, at the left of the stamp.
        more_in = 0.19 * max(0, -(-len(named) // columns) - 1)
        bottom_in = figure.subplotpars.bottom * height_in
        figure.set_figheight(height_in + more_in)
        figure.subplots_adjust(bottom=(bottom_in + more_in) / (height_in + more_in))

    description = (
        "Normalized throughput of every second, by method; dotted lines are changes of popularity"
    )
    return drawing.draw("dynamic", description, stamp.of_results(cells), height_in, paint)


def _names(cells: Sequence[CellResult]) -> dict[str, dict[str, Any]]:
    """Label and style by cell: of its method, and of what tells it from others of the method."""
    methods = {cell.id: cell.parameters["method"] for cell in cells}
    if len(set(methods.values())) == len(methods):
        return {
            id_: {"label": name, "color": COLOURS[name], "ls": _LINES.get(name, "-")}
            for id_, name in methods.items()
        }
    style_of = line_styles(cells)
    return {
        cell.id: {"label": ", ".join([methods[cell.id], *cell.peculiarities]), **style_of(cell)}
        for cell in cells
    }


def _panel(axes: Axes, cells: Sequence[CellResult]) -> None:
    instants: set[float] = set()
    gaps = dict.fromkeys(f"{cell.parameters['method']}: {cell.gap}" for cell in cells if cell.gap)
    axes.text(0.99, 0.03, ", ".join(gaps), transform=axes.transAxes, **_GAP)
    named = _names(cells)
    for cell in cells:
        seconds = of_changes.seconds_of(cell)
        if cell.gap:
            continue
        values = [nan if s.normalized is None else s.normalized for s in seconds]
        # Each second is a step: its value holds from its begin to its end.
        axes.step(
            [s.second for s in seconds] + [seconds[-1].second + 1], [*values, values[-1]],
            where="post", lw=1.8, **named[cell.id],
        )  # fmt: skip
        if popularity.changes(cell.parameters):
            first = cell.shown[0].measurements[0]
            instants |= {round(at_s, 1) for at_s, _ in of_changes.instants(first)}
    for at_s in sorted(instants):
        axes.axvline(at_s, color=drawing.VERMILION, lw=1, ls=":")
