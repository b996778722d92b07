"""Figure of how every iteration went: the busier server, and throughput of every second."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.plot.seconds import paint_seconds
from turntable.results import CellResult, TurnResult
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.rules.capacity import utilization
from turntable_systems.farreach.methods import caches


def iterations(cell: CellResult) -> Drawing:
    """Above: how busy the busier server was. Below: throughput of every second."""
    band = valid_band(cell)

    def paint(figure: Figure) -> None:
        busy, rates = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.15])
        figure.subplots_adjust(hspace=0.32)
        _utilization(busy, cell, band)
        _seconds(rates, cell)
        for axes in (busy, rates):
            drawing.hatch_gaps(axes, cell.missing)
        count = cell.turns[0].expected_iterations
        drawing.integer_ticks(rates, count)
        rates.set_xlim(-0.5, count - 0.5)
        rotation = "iteration (0: bottleneck alone; then with one rotated partition each)"
        rates.set_xlabel(rotation if count > 1 else "iteration")

    values = [value for turn in cell.turns for value in _busy(cell, turn).values()]
    span = f"from {min(values):.3f} to {max(values):.3f}" if values else "not measured"
    description = (
        f"{cell.label}: by iteration, utilization of the busier server ({span}) and throughput of "
        "every second"
    )
    said = stamp.of_diagnostics([cell])
    return drawing.draw(f"iterations-{cell.id}", description, said, 4.7, paint)


def valid_band(cell: CellResult) -> tuple[float, float] | None:
    """Of the busier server: utilization with a capacity, else busy share of the time.

    None on an emulated testbed without capacity, where nothing limits a server and none is valid.
    """
    validity = cell.run.plan.validity
    if cell.parameters["capacity_ops_per_s"] > 0:
        low, high = validity["busiest_utilization"]
        return low, high
    return None if cell.run.emulated else (validity["busy_share_min"], 1.0)


def _utilization(axes: Axes, cell: CellResult, band: tuple[float, float] | None) -> None:
    capacity = cell.parameters["capacity_ops_per_s"]
    values = list(band or ())
    if band:
        axes.axhspan(*band, color=drawing.GREEN, alpha=0.16, lw=0, label=_band_label(band))
    for index, turn in enumerate(cell.turns):
        points = _busy(cell, turn)
        if not points:
            continue
        values += points.values()
        aside = 0.1 * (index - (len(cell.turns) - 1) / 2)  # rounds side by side
        axes.plot(
            [iteration + aside for iteration in points], list(points.values()), ls="", ms=5,
            marker=drawing.MARKERS[index % len(drawing.MARKERS)],
            color=drawing.SERIES[index % len(drawing.SERIES)],
            label=f"round {turn.round}" if len(cell.turns) > 1 else "measured",
        )  # fmt: skip
    low, high = min(values, default=0), max(values, default=1)
    axes.set_ylim(low - 0.04 if low > 0.2 else 0, high + 0.04)
    axes.set_ylabel("utilization (1 = capacity)" if capacity > 0 else "busy share of time")
    what = "Utilization" if capacity > 0 else "Busy share"
    drawing.title(axes, f"{what} of the busier server")
    drawing.legend(axes, columns=7)


def _busy(cell: CellResult, turn: TurnResult) -> dict[int, float]:
    """By iteration, of the busier server: utilization, or busy share without a capacity."""
    capacity = cell.parameters["capacity_ops_per_s"]
    return {
        m.iteration: utilization(m, capacity) if capacity > 0 else m.busier.busy_share
        for m in turn.measurements
    }


def _band_label(band: tuple[float, float]) -> str:
    return f"valid: {band[0]:g}\N{EN DASH}{band[1]:g}"


def _seconds(axes: Axes, cell: CellResult) -> None:
    paint_seconds(axes, cell, Measurement.series, "throughput (ops/s)")
    capacity = cell.parameters["capacity_ops_per_s"]
    if capacity > 0:
        axes.axhline(
            capacity, color=drawing.INK, lw=0.9, ls=(0, (5, 3)), zorder=1,
            label=_capacity_label(cell),
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_ylim(top=1.08 * axes.get_ylim()[1])
    drawing.legend(axes)


def _capacity_label(cell: CellResult) -> str:
    """Clients count what the switch answers as well, which no server's capacity limits."""
    return (
        "capacity of a server, without the switch's hits" if caches(cell.parameters) else "capacity"
    )
