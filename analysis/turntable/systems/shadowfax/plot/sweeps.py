"""Throughput and round trip against a parameter, a line for whatever else differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.shadowfax.plot import numbers
from turntable.systems.shadowfax.summary import PARAMETERS

_HEIGHT_IN = 3.6
# Column of summary.csv -> (unit of the axis, what it is divided by).
_RATE = ("aggregate_ops_per_s", "throughput (Mops/s)", 1e6)
_WORKER = ("ops_per_s_per_worker", "throughput of a worker (Mops/s)", 1e6)
_FILL = ("fill_ops_per_s", "million keys stored per second", 1e6)
_ROUND_TRIP = ("round_trip_mean_us", "mean round trip of a batch (ms)", 1e3)
_LIMIT = "device_limit_ops_per_s"
# Parameters that not all cells have, or earlier versions had not.
_OF_SOME = ("theta", "store", "fill_batch_bytes", "fill_pipeline")
_WORDS: Mapping[str, str] = {
    "pipeline": "pipeline {}",
    "memory_share": "memory {}",
    "batch_operations": "{} a batch",
    "value_bytes": "{} bytes",
    "keys": "{:,} keys",
    "theta": "theta {}",
    "fill_batch_bytes": "batches of {:,} bytes",
    "fill_pipeline": "{} under way",
}

Lines = Mapping[str, Sequence[CellResult]]  # by label, in the order of the parameter


def by_batch(cells: Sequence[CellResult]) -> Drawing | None:
    """Both axes are logarithmic. None unless cells of several sizes were measured."""
    lines = _lines(cells, "batch_operations")
    if not lines:
        return None

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        figure.subplots_adjust(wspace=0.2)
        for axes, what in ((left, _RATE), (right, _ROUND_TRIP)):
            _paint(axes, lines, "batch_operations", what)
            axes.set_xscale("log")
            axes.set_yscale("log")
            numbers.write_powers(axes.xaxis)
            numbers.write(axes.yaxis)
            axes.set_xlabel("operations in a batch (logarithmic)")
        drawing.title(left, "Throughput")
        drawing.title(right, "Round trip of full pipelines (Little's law)")
        _legend(figure, left, lines)

    described = "Throughput and mean round trip of a batch against operations in a batch"
    return _draw("by_batch", described, cells, paint)


def by_memory(cells: Sequence[CellResult]) -> Drawing | None:
    """None unless cells with several sizes of memory were measured."""
    lines = _lines(cells, "memory_share")
    if not lines:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.set_yscale("log")
        _paint(axes, lines, "memory_share", _RATE)
        _paint_device(axes, lines)
        numbers.write(axes.yaxis)
        axes.set_xlim(left=0)
        axes.set_xlabel("memory of the log, in sizes of the data")
        drawing.title(axes, "Throughput by memory")
        _legend(figure, axes, lines)

    return _draw("by_memory", "Throughput against the memory of the log", cells, paint)


def by_threads(cells: Sequence[CellResult]) -> Drawing | None:
    """In all, and of a worker. None unless cells with several numbers of threads were measured."""
    lines = _lines(cells, "threads")
    if not lines:
        return None

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        figure.subplots_adjust(wspace=0.2)
        for axes, what in ((left, _RATE), (right, _WORKER)):
            _paint(axes, lines, "threads", what)
            axes.set_ylim(bottom=0)
            axes.set_xlim(left=0)
            axes.set_xticks(sorted({cell.parameters["threads"] for cell in cells}))
            axes.set_xlabel("workers of a server, and threads of a client")
        drawing.title(left, "Throughput by threads")
        drawing.title(right, "Throughput of a worker")
        _legend(figure, left, lines)

    return _draw("by_threads", "Throughput against threads, in all and of a worker", cells, paint)


def fill(cells: Sequence[CellResult]) -> Drawing | None:
    """None unless stores were filled with several sizes of values, by several batches."""
    parameter = "value_bytes"
    lines = _lines(cells, parameter, _FILL[0])
    if not lines or len({cell.parameters.get("fill_batch_bytes") for cell in cells}) < 2:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        _paint(axes, lines, parameter, _FILL)
        axes.set_xscale("log", base=2)
        numbers.write_powers(axes.xaxis)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("bytes of a value (logarithmic)")
        drawing.title(axes, "Filling the stores")
        _legend(figure, axes, lines)

    return _draw("fill", "Keys stored per second while the stores are filled", cells, paint)


def by_value_size(cells: Sequence[CellResult]) -> Drawing | None:
    """Both axes are logarithmic. None unless cells with several sizes were measured."""
    lines = _lines(cells, "value_bytes")
    if not lines:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        _paint(axes, lines, "value_bytes", _RATE)
        axes.set_xscale("log", base=2)
        numbers.write_powers(axes.xaxis)
        axes.set_yscale("log")
        numbers.write(axes.yaxis)
        axes.set_xlabel("bytes of a value (logarithmic)")
        drawing.title(axes, "Throughput by size of values")
        _legend(figure, axes, lines)

    return _draw("by_value_size", "Throughput against the bytes of a value", cells, paint)


def _draw(name: str, description: str, cells: Sequence[CellResult], paint) -> Drawing:
    return drawing.draw(name, description, stamp.of_results(cells), _HEIGHT_IN, paint)


def _lines(cells: Sequence[CellResult], parameter: str, column: str = _RATE[0]) -> Lines:
    """Empty where no line would have two points."""
    measured = [cell for cell in cells if cell.measured(column)]
    others = [
        name
        for name in (*PARAMETERS, *_OF_SOME)
        if name != parameter and len({cell.parameters.get(name) for cell in measured}) > 1
    ]
    found: dict[str, list[CellResult]] = {}
    for cell in sorted(measured, key=lambda cell: cell.parameters[parameter]):
        found.setdefault(_label(cell, others), []).append(cell)
    levels = (len({cell.parameters[parameter] for cell in group}) for group in found.values())
    return found if any(count > 1 for count in levels) else {}


def _label(cell: CellResult, names: Sequence[str]) -> str:
    known = [(name, cell.parameters.get(name)) for name in names]
    return ", ".join(
        _WORDS.get(name, "{}" if isinstance(value, str) else f"{{}} {name}").format(value)
        for name, value in known
        if value is not None
    )


def _paint(axes: Axes, lines: Lines, parameter: str, what: tuple[str, str, float]) -> None:
    column, unit, divisor = what
    for index, (label, group) in enumerate(lines.items()):
        estimates = [(cell.parameters[parameter], cell.measured(column)) for cell in group]
        points = [(x, found) for x, found in estimates if found is not None]
        axes.errorbar(
            [x for x, _ in points],
            [found.mean / divisor for _, found in points],
            yerr=[(found.half_width or 0) / divisor for _, found in points],
            color=drawing.SERIES[index % len(drawing.SERIES)],
            marker=drawing.MARKERS[index % len(drawing.MARKERS)],
            ms=4,
            capsize=2,
            label=label or None,
        )
    axes.set_ylabel(unit)


def _paint_device(axes: Axes, lines: Lines) -> None:
    """What the device alone would allow, where it was measured. The axis stays that of the stores,
    for a device that is hardly read would allow anything.
    """
    limits_of_axis = axes.get_ylim()
    label: str | None = "the device alone"
    for index, group in enumerate(lines.values()):
        limits = [(cell.parameters["memory_share"], cell.measured(_LIMIT)) for cell in group]
        points = [(x, found.mean / _RATE[2]) for x, found in limits if found is not None]
        if not points:
            continue
        color = drawing.SERIES[index % len(drawing.SERIES)]
        axes.plot(*zip(*points, strict=True), color=color, ls=":", marker="_", label=label)
        label = None
    axes.set_ylim(limits_of_axis)


def _legend(figure: Figure, axes: Axes, lines: Lines) -> None:
    if len(lines) < 2:
        return
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="upper right", bbox_to_anchor=(0.99, 1.0), ncols=min(6, len(labels)),
        borderaxespad=0.1,
    )  # fmt: skip
