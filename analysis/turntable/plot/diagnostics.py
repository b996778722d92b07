"""Figures that show how a measurement went: partitions, iterations, seconds, overhead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from turntable.cells import Cell, Round
from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.rotation import aggregate
from turntable.rules import utilization
from turntable.stats import Estimate, estimate
from turntable.summary import placements
from turntable_core.methods import caches

_GAP = float("nan")  # ends a line


def partitions(cell: Cell) -> Drawing:
    """Measured load of every partition beside its share of the replayed traces."""
    loads, expected = measured_loads(cell), expected_loads(cell)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        color = drawing.BLUE if cell.counted else drawing.MUTED
        present = {p: load for p, load in loads.items() if load is not None}
        axes.bar(
            list(present), [load.mean for load in present.values()], 0.72,
            yerr=_half_widths(present.values()) if cell.counted else None, color=color, alpha=0.75,
            error_kw={"ecolor": drawing.INK, "capsize": 2.5, "elinewidth": 1},
            label="measured" if cell.counted else f"measured ({cell.gap})",
        )  # fmt: skip
        axes.hlines(
            list(expected.values()), [p - 0.42 for p in expected], [p + 0.42 for p in expected],
            color=drawing.INK, lw=1.8, label="trace-exact",
        )  # fmt: skip
        drawing.hatch_gaps(axes, [p for p, load in loads.items() if load is None])
        _integer_ticks(axes, len(loads))
        axes.grid(visible=False, axis="x")
        tops = [load.mean + (load.half_width or 0) for load in present.values()]
        axes.set_ylim(0, min(2, max([1.1, *(1.08 * top for top in tops)])))
        axes.set_xlabel("partition (logical server)")
        axes.set_ylabel("load (bottleneck = 1)")
        drawing.title(
            axes, "Load of every partition: server throughput relative to the bottleneck's"
        )
        drawing.legend(axes)

    said = stamp.of_results([cell]) if cell.counted else stamp.of_diagnostics([cell])
    description = f"{cell.label}: load of every partition. {_farthest(loads, expected)}"
    return drawing.draw(f"partitions-{cell.id}", description, said, 2.9, paint)


def _farthest(loads: Mapping[int, Estimate | None], expected: Mapping[int, float]) -> str:
    """The figure in a sentence."""
    both = [(p, load.mean, expected[p]) for p, load in loads.items() if load and expected.get(p)]
    if not both:
        return "Nothing was measured."
    partition, load, trace = max(both, key=lambda item: abs(item[1] / item[2] - 1))
    return (
        f"Farthest from the traces is partition {partition}: measured {load:.3f}, "
        f"trace-exact {trace:.3f} of the bottleneck's load."
    )


def measured_loads(cell: Cell) -> dict[int, Estimate | None]:
    """Server throughput by partition, the bottleneck's = 1; None where nothing was measured."""
    rounds = [_loads_of(round_) for round_ in cell.shown]
    return {
        partition: estimate([loads.get(partition) for loads in rounds])
        for partition in range(cell.parameters["servers"])
    }


def expected_loads(cell: Cell) -> dict[int, float]:
    """Shares of the replayed traces, the bottleneck's = 1; mean over the rounds shown."""
    result = {}
    for partition in range(cell.parameters["servers"]):
        ratios = [
            prediction.trace.shares[partition] / prediction.trace.shares[prediction.bottleneck]
            for prediction in (round_.turn.prediction for round_ in cell.shown)
            if prediction.trace.shares[prediction.bottleneck] > 0
        ]
        mean = estimate(ratios)
        if mean is not None:
            result[partition] = mean.mean
    return result


def iterations(cell: Cell) -> Drawing:
    """Above: how busy the busier server was. Below: throughput of every second."""
    band = valid_band(cell)

    def paint(figure: Figure) -> None:
        busy, rates = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.15])
        figure.subplots_adjust(hspace=0.32)
        _utilization(busy, cell, band)
        _seconds(rates, cell)
        for axes in (busy, rates):
            drawing.hatch_gaps(axes, _missing(cell))
        count = cell.parameters["servers"]
        _integer_ticks(rates, count)
        rates.set_xlim(-0.5, count - 0.5)
        rates.set_xlabel("iteration (0: bottleneck alone; then with one rotated partition each)")

    values = [value for round_ in cell.rounds for value in _busy(cell, round_).values()]
    span = f"from {min(values):.3f} to {max(values):.3f}" if values else "not measured"
    description = (
        f"{cell.label}: by iteration, utilization of the busier server ({span}) and throughput of "
        "every second"
    )
    said = stamp.of_diagnostics([cell])
    return drawing.draw(f"iterations-{cell.id}", description, said, 4.7, paint)


def valid_band(cell: Cell) -> tuple[float, float] | None:
    """Of the busier server: utilization with a capacity, else busy share of the time.

    None on an emulated testbed without capacity, where nothing limits a server and none is valid.
    """
    validity = cell.run.plan.validity
    if cell.parameters["capacity_ops_per_s"] > 0:
        low, high = validity["busiest_utilization"]
        return low, high
    return None if cell.run.emulated else (validity["busy_share_min"], 1.0)


def overhead(cells: Sequence[Cell]) -> Drawing:
    """Wall time of every iteration beyond warm-up and measuring, in the order of the plan."""
    rounds = [(cell, round_) for cell in cells for round_ in cell.rounds]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        start = 0
        values: list[float] = []
        for index, (cell, round_) in enumerate(rounds):
            points = {
                start + m.iteration: m.overhead_s
                for m in round_.turn.measurements
                if m.overhead_s is not None
            }
            color = drawing.SERIES[index % len(drawing.SERIES)]
            axes.plot(list(points), list(points.values()), "o", ms=4, color=color)
            drawing.hatch_gaps(axes, [start + i for i in round_.missing])
            _part_label(axes, len(rounds), cell, round_, start)
            values += points.values()
            start += round_.turn.expected_iterations
        if values:
            middle = median(values)
            axes.axhline(middle, color=drawing.INK, lw=1, label=f"median {middle:.2f} s")
            drawing.legend(axes)
        axes.xaxis.set_major_locator(MaxNLocator(16, integer=True))
        axes.set_xlim(-0.5, start - 0.5)
        axes.set_ylim(0, 1.25 * max(values, default=1))
        axes.set_xlabel("iterations in the order of the plan")
        axes.set_ylabel("overhead (s)")
        drawing.title(axes, "Overhead per iteration")

    description = "Overhead of every iteration, in the order of the plan"
    return drawing.draw("overhead", description, stamp.of_diagnostics(cells), 2.5, paint)


def _loads_of(round_: Round) -> dict[int, float]:
    if not round_.turn.measurements:
        return {}
    result = aggregate(round_.turn.prediction.bottleneck, placements(round_.turn.measurements))
    bottleneck = result.partitions[round_.turn.prediction.bottleneck].server
    if bottleneck <= 0:
        return {}
    return {partition: rates.server / bottleneck for partition, rates in result.partitions.items()}


def _utilization(axes: Axes, cell: Cell, band: tuple[float, float] | None) -> None:
    capacity = cell.parameters["capacity_ops_per_s"]
    values = list(band or ())
    if band:
        axes.axhspan(*band, color=drawing.GREEN, alpha=0.16, lw=0, label=_band_label(band))
    for index, round_ in enumerate(cell.rounds):
        points = _busy(cell, round_)
        if not points:
            continue
        values += points.values()
        aside = 0.1 * (index - (len(cell.rounds) - 1) / 2)  # rounds side by side
        axes.plot(
            [iteration + aside for iteration in points], list(points.values()), ls="", ms=5,
            marker=drawing.MARKERS[index % len(drawing.MARKERS)],
            color=drawing.SERIES[index % len(drawing.SERIES)],
            label=f"round {round_.number}" if len(cell.rounds) > 1 else "measured",
        )  # fmt: skip
    low, high = min(values, default=0), max(values, default=1)
    axes.set_ylim(low - 0.04 if low > 0.2 else 0, high + 0.04)
    axes.set_ylabel("utilization (1 = capacity)" if capacity > 0 else "busy share of time")
    what = "Utilization" if capacity > 0 else "Busy share"
    drawing.title(axes, f"{what} of the busier server")
    drawing.legend(axes, columns=7)


def _busy(cell: Cell, round_: Round) -> dict[int, float]:
    """By iteration, of the busier server: utilization, or busy share without a capacity."""
    capacity = cell.parameters["capacity_ops_per_s"]
    return {
        m.iteration: utilization(m, capacity) if capacity > 0 else m.busier.busy_share
        for m in round_.turn.measurements
    }


def _band_label(band: tuple[float, float]) -> str:
    return f"valid: {band[0]:g}\N{EN DASH}{band[1]:g}"


def _seconds(axes: Axes, cell: Cell) -> None:
    """Every second is a short horizontal line inside its iteration's column."""
    lines: dict[str, tuple[list[float], list[float]]] = {
        "bottleneck partition": ([], []),
        "rotated partition": ([], []),
    }
    for round_ in cell.rounds:
        for iteration in round_.turn.turn.iterations:
            window = round_.turn.seconds.get(iteration.index, ())
            for second in window:
                left = iteration.index - 0.42 + 0.84 * second.second / len(window)
                right = left + 0.84 / len(window)
                for label, partition in zip(lines, iteration.partitions, strict=False):
                    xs, ys = lines[label]
                    rate = second.ops_per_s.get(partition, _GAP)
                    xs += [left, right, _GAP]
                    ys += [rate, rate, _GAP]
    for (label, (xs, ys)), color in zip(lines.items(), (drawing.BLUE, drawing.ORANGE), strict=True):
        if xs:
            axes.plot(xs, ys, color=color, lw=2, solid_capstyle="butt", label=label)
    capacity = cell.parameters["capacity_ops_per_s"]
    if capacity > 0:
        axes.axhline(
            capacity, color=drawing.INK, lw=0.9, ls=(0, (5, 3)), zorder=1,
            label=_capacity_label(cell),
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_ylim(top=1.08 * axes.get_ylim()[1])
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel("throughput (ops/s)")
    drawing.title(axes, "Throughput per second of the measurement windows")
    drawing.legend(axes)


def _capacity_label(cell: Cell) -> str:
    """Clients count what the switch answers as well, which no server's capacity limits."""
    return (
        "capacity of a server, without the switch's hits" if caches(cell.parameters) else "capacity"
    )


def _missing(cell: Cell) -> list[int]:
    """Iterations that no round has."""
    return sorted(set.intersection(*(set(round_.missing) for round_ in cell.rounds)))


def _half_widths(loads: Iterable[Estimate]) -> list[float] | None:
    widths = [load.half_width or 0.0 for load in loads]
    return widths if any(widths) else None


def _integer_ticks(axes: Axes, count: int) -> None:
    step = max(1, -(-count // 32))
    axes.set_xticks(range(0, count, step))
    axes.set_xlim(-0.7, count - 0.3)


def _part_label(axes: Axes, parts: int, cell: Cell, round_: Round, start: int) -> None:
    """Where a cell's round begins, if there are several."""
    if start:
        axes.axvline(start - 0.5, color=drawing.MUTED, lw=0.6)
    if 1 < parts <= 12:
        text = cell.label.split(" · ")[0]
        text += f", round {round_.number}" if len(cell.rounds) > 1 else ""
        axes.text(
            start - 0.4, 0.97, text, size=8, color=drawing.MUTED, va="top",
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
