"""Figure of where the load went: every partition beside its share of the traces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult, TurnResult
from turntable.stats import Estimate, estimate
from turntable.systems.farreach.plot.methods import COLOURS
from turntable.systems.farreach.rotation import aggregate
from turntable.systems.farreach.summary import placements


def partitions(cell: CellResult) -> Drawing:
    """Measured load of every partition beside its share of the replayed traces."""
    loads, expected = measured_loads(cell), expected_loads(cell)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        color = COLOURS[cell.parameters["method"]] if cell.counted else drawing.MUTED
        present = {p: load for p, load in loads.items() if load is not None}
        axes.bar(
            list(present), [load.mean for load in present.values()], 0.72,
            yerr=_half_widths(present.values()) if cell.counted else None, color=color, alpha=0.75,
            error_kw={"ecolor": drawing.INK, "capsize": 2.5, "elinewidth": 1},
            label="measured" if cell.counted else f"measured ({cell.gap})",
        )  # fmt: skip
        if expected:
            axes.hlines(
                list(expected.values()), [p - 0.42 for p in expected], [p + 0.42 for p in expected],
                color=drawing.INK, lw=1.8, label="trace-exact",
            )  # fmt: skip
        drawing.hatch_gaps(axes, [p for p, load in loads.items() if load is None])
        drawing.integer_ticks(axes, len(loads))
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


def measured_loads(cell: CellResult) -> dict[int, Estimate | None]:
    """Server throughput by partition, the bottleneck's = 1; None where nothing was measured."""
    turns = [_loads_of(turn) for turn in cell.shown]
    return {
        partition: estimate([loads.get(partition) for loads in turns])
        for partition in range(cell.parameters["servers"])
    }


def expected_loads(cell: CellResult) -> dict[int, float]:
    """Shares of the replayed traces, the bottleneck's = 1; mean over the rounds shown."""
    result = {}
    for partition in range(cell.parameters["servers"]):
        ratios = [
            prediction.trace.shares[partition] / prediction.trace.shares[prediction.bottleneck]
            for prediction in (turn.prediction for turn in cell.shown)
            if not prediction.is_unknown and prediction.trace.shares[prediction.bottleneck] > 0
        ]
        mean = estimate(ratios)
        if mean is not None:
            result[partition] = mean.mean
    return result


def _loads_of(turn: TurnResult) -> dict[int, float]:
    if not turn.measurements:
        return {}
    result = aggregate(turn.prediction.bottleneck, placements(turn.measurements))
    bottleneck = result.partitions[turn.prediction.bottleneck].server
    if bottleneck <= 0:
        return {}
    return {partition: rates.server / bottleneck for partition, rates in result.partitions.items()}


def _half_widths(loads: Iterable[Estimate]) -> list[float] | None:
    widths = [load.half_width or 0.0 for load in loads]
    return widths if any(widths) else None
