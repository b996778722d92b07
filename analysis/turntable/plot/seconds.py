"""Throughput of every second of the measurement windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.measurement import Measurement
from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult

# By name: values of the window's seconds, from the first; NaN where there is none.
SeriesOf = Callable[[Measurement], Mapping[str, Sequence[float]]]

_MOST_WORDS = 16  # columns wide enough for the events' words
_COLOURS = (drawing.BLUE, drawing.ORANGE, drawing.GREEN, drawing.VERMILION, drawing.PURPLE)


def seconds(cell: CellResult, series_of: SeriesOf, label: str) -> Drawing | None:
    """Every series over the iterations of all rounds; None where there is nothing to show.

    label: of the axis, with the unit.
    """
    every = [series_of(m) for turn in cell.turns for m in turn.measurements]
    if not any(any(series.values()) for series in every):
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        paint_seconds(axes, cell, series_of, label)
        axes.set_ylim(bottom=0)
        axes.set_ylim(top=1.08 * axes.get_ylim()[1])
        drawing.legend(axes)
        drawing.hatch_gaps(axes, cell.missing)
        count = cell.turns[0].expected_iterations
        drawing.integer_ticks(axes, count)
        axes.set_xlim(-0.5, count - 0.5)
        axes.set_xlabel("iteration")

    description = f"{cell.label}: by iteration, every second of the measurement windows"
    said = stamp.of_diagnostics([cell])
    return drawing.draw(f"seconds-{cell.id}", description, said, 2.9, paint)


def paint_seconds(axes: Axes, cell: CellResult, series_of: SeriesOf, label: str) -> None:
    """Every second is a short horizontal line inside its iteration's column."""
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for turn in cell.turns:
        for measurement in turn.measurements:
            for name, values in series_of(measurement).items():
                _add(*lines.setdefault(name, ([], [])), measurement.iteration, values)
    _paint_events(axes, cell)
    for index, (name, (xs, ys)) in enumerate(lines.items()):
        colour = _COLOURS[index % len(_COLOURS)]
        axes.plot(xs, ys, color=colour, lw=2, solid_capstyle="butt", label=name)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel(label)
    drawing.title(axes, "Throughput per second of the measurement windows")


def _paint_events(axes: Axes, cell: CellResult) -> None:
    """Of the timeline: a vertical line at its instant, in the column of its iteration."""
    for measurement in (m for turn in cell.turns for m in turn.measurements):
        for event in measurement.events:
            if 0 <= event.at_s <= measurement.seconds:
                x = measurement.iteration - 0.42 + 0.84 * event.at_s / measurement.seconds
                axes.axvline(x, color=drawing.VERMILION, lw=1, ls=":")
                if cell.turns[0].expected_iterations <= _MOST_WORDS:
                    _write(axes, x, f"{event.label}, {event.at_s:.1f} s")


def _write(axes: Axes, x: float, text: str) -> None:
    """Beside the line, from the bottom up."""
    words = axes.annotate(
        text, (x, 0.03), xycoords=axes.get_xaxis_transform(), xytext=(2, 0),
        textcoords="offset points", ha="left", va="bottom", size=8, color=drawing.MUTED,
    )  # fmt: skip
    words.set_rotation(90)


def _add(xs: list[float], ys: list[float], iteration: int, values: Sequence[float]) -> None:
    """A NaN ends a line."""
    for second, value in enumerate(values):
        left = iteration - 0.42 + 0.84 * second / len(values)
        xs += [left, left + 0.84 / len(values), nan]
        ys += [value, value, nan]
