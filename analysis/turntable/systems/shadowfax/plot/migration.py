"""Throughput while keys move from one server to another: every sample of a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.shadowfax import capacity
from turntable.systems.shadowfax.measurement import Measurement

_PANEL_IN = 2.6
_FOOT_IN = 1.0  # ticks, the axis' label, the legend, the stamp
# Steps of a migration that are drawn -> their words. That the target owns the keys is soon after
# the begin.
_STEPS = {"prepare": "begins", "owned": "", "complete": "all are there"}


def migration(cells: Sequence[CellResult]) -> Drawing | None:
    """A panel for each cell in which keys moved, of its first round that counts."""
    found = [(cell, _first(cell)) for cell in cells]
    panels = [(cell, one) for cell, one in found if one is not None]
    if not panels:
        return None

    def paint(figure: Figure) -> None:
        rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (cell, measurement) in zip(rows, panels, strict=True):
            _paint(axes, cell, measurement)
            drawing.title(axes, cell.label)
        figure.subplots_adjust(hspace=0.25, left=0.1, bottom=_FOOT_IN / height)
        rows[-1].set_xlabel("time in the measurement window (s)")
        handles, labels = rows[0].get_legend_handles_labels()
        above_the_stamp = (0.99, 0.22 / height)
        figure.legend(
            handles, labels, loc="lower right", bbox_to_anchor=above_the_stamp, ncols=len(labels)
        )

    described = "Operations per second of all servers and of each while keys move"
    height = _FOOT_IN + _PANEL_IN * len(panels)
    return drawing.draw("migration", described, stamp.of_first_rounds(cells), height, paint)


def _first(cell: CellResult) -> Measurement | None:
    for turn in cell.shown:
        for measurement in turn.measurements:
            if measurement.migrations:
                return measurement
    return None


def _paint(axes: Axes, cell: CellResult, measurement: Measurement) -> None:
    samples = measurement.clients.samples
    # The window may end within the last sample.
    edges = [0.0, *(min(end, measurement.seconds) for end in samples.ends_s())]

    def paint(counts: Sequence[int], colour: str, width: float, label: str) -> None:
        rates = np.array(counts) / np.diff(edges)
        axes.stairs(rates, edges, baseline=None, color=colour, lw=width, label=label)

    paint(samples.operations, drawing.INK, 1.6, "all servers")
    for server in range(max(map(len, samples.by_server), default=0)):
        colour = drawing.SERIES[server % len(drawing.SERIES)]
        paint(samples.of_server(server), colour, 1.2, f"server {server}")
    _paint_prediction(axes, cell, measurement)
    for one in measurement.migrations:
        _paint_steps(axes, one.steps_s)
    axes.set_xlim(0, measurement.seconds)
    axes.set_ylim(bottom=0)
    axes.set_ylim(top=1.15 * axes.get_ylim()[1])
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel("operations/s")


def _paint_prediction(axes: Axes, cell: CellResult, measurement: Measurement) -> None:
    """Of what the capacity says, before and after."""
    label: str | None = "predicted by the capacity"
    for phase in capacity.phases(measurement, cell.parameters).values():
        rate = capacity.predicted_ops_per_s(phase, cell.parameters)
        if rate is None:
            continue
        axes.plot(
            [phase.from_s, phase.to_s], [rate, rate], color=drawing.MUTED, ls="--", label=label
        )
        label = None


def _paint_steps(axes: Axes, steps_s: Mapping[str, float]) -> None:
    for step, words in _STEPS.items():
        if step not in steps_s:
            continue
        axes.axvline(steps_s[step], color=drawing.VERMILION, lw=1, ls=":")
        text = axes.annotate(
            words, (steps_s[step], 0.5), xycoords=axes.get_xaxis_transform(),
            xytext=(-2 if step == "prepare" else 2, 0), textcoords="offset points",
            ha="right" if step == "prepare" else "left", va="center", size=8, color=drawing.MUTED,
        )  # fmt: skip
        text.set_rotation(90)
