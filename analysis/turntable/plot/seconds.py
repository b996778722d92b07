"""Throughput of every second of the measurement windows.

Where a turn has several iterations, each is a column of the figure. Where it has one, the figure
has the window's seconds.
"""

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

# Seconds since the window's begin -> where they are on the axis.
Place = Callable[[Measurement, float], float]

_LEFT_IN = 1.0  # for rates of seven digits and the axis' label
_MOST_WORDS = 16  # columns wide enough for the events' words
_COLOURS = (drawing.BLUE, drawing.ORANGE, drawing.GREEN, drawing.VERMILION, drawing.PURPLE)


def seconds(cell: CellResult, series_of: SeriesOf, label: str) -> Drawing | None:
    """Every series over the iterations of all rounds; None where there is nothing to show.

    label: of the axis, with the unit.
    """
    measurements = [m for turn in cell.turns for m in turn.measurements]
    if not any(any(series.values()) for series in map(series_of, measurements)):
        return None
    count = cell.turns[0].expected_iterations

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        if count == 1:
            _paint(axes, cell, series_of, label, _in_window)
            axes.set_xlim(0, max(m.seconds for m in measurements))
            axes.set_xlabel("time in the measurement window (s)")
        else:
            paint_seconds(axes, cell, series_of, label)
            drawing.hatch_gaps(axes, cell.missing)
            drawing.integer_ticks(axes, count)
            axes.set_xlim(-0.5, count - 0.5)
            axes.set_xlabel("iteration")
        axes.set_ylim(bottom=0)
        axes.set_ylim(top=1.08 * axes.get_ylim()[1])
        drawing.legend(axes)

    by = "" if count == 1 else "by iteration, "
    description = f"{cell.label}: {by}every second of the measurement windows"
    said = stamp.of_diagnostics([cell])
    return drawing.draw(f"seconds-{cell.id}", description, said, 2.9, paint, _LEFT_IN)


def paint_seconds(axes: Axes, cell: CellResult, series_of: SeriesOf, label: str) -> None:
    """Every second is a short horizontal line inside its iteration's column."""
    _paint(axes, cell, series_of, label, _in_column)


def _in_column(measurement: Measurement, second: float) -> float:
    return measurement.iteration - 0.42 + 0.84 * second / measurement.seconds


def _in_window(measurement: Measurement, second: float) -> float:
    return second


def _paint(axes: Axes, cell: CellResult, series_of: SeriesOf, label: str, place: Place) -> None:
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for turn in cell.turns:
        for measurement in turn.measurements:
            for name, values in series_of(measurement).items():
                _add(*lines.setdefault(name, ([], [])), measurement, values, place)
    _paint_events(axes, cell, place)
    for index, (name, (xs, ys)) in enumerate(lines.items()):
        colour = _COLOURS[index % len(_COLOURS)]
        axes.plot(xs, ys, color=colour, lw=2, solid_capstyle="butt", label=name)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel(label)
    drawing.title(axes, "Throughput by the second")


def _paint_events(axes: Axes, cell: CellResult, place: Place) -> None:
    """Of the timeline: a vertical line at its instant. Every round has them, so the words of an
    iteration's first one are enough.
    """
    told: set[int] = set()
    for turn in cell.turns:
        few = turn.expected_iterations <= _MOST_WORDS
        for measurement in turn.measurements:
            for event in measurement.events:
                if 0 <= event.at_s <= measurement.seconds:
                    x = place(measurement, event.at_s)
                    axes.axvline(x, color=drawing.VERMILION, lw=1, ls=":")
                    if few and measurement.iteration not in told:
                        _write(axes, x, f"{event.label}, {event.at_s:.1f} s")
            told.add(measurement.iteration)


def _write(axes: Axes, x: float, text: str) -> None:
    """Beside the line, from the bottom up."""
    words = axes.annotate(
        text, (x, 0.03), xycoords=axes.get_xaxis_transform(), xytext=(2, 0),
        textcoords="offset points", ha="left", va="bottom", size=8, color=drawing.MUTED,
    )  # fmt: skip
    words.set_rotation(90)


def _add(
    xs: list[float],
    ys: list[float],
    measurement: Measurement,
    values: Sequence[float],
    place: Place,
) -> None:
    """A NaN ends a line: in a column after every second."""
    for second, value in enumerate(values):
        right = min(second + 1, measurement.seconds)
        xs += [place(measurement, second), place(measurement, right)]
        ys += [value, value]
        if place is _in_column:
            xs.append(nan)
            ys.append(nan)
    xs.append(nan)
    ys.append(nan)
