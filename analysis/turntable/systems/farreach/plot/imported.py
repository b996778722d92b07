"""Figure of the iterations of imported results, of which no seconds and no utilization are known:
how much the bottleneck's storage drifted, and what every rotated partition did beside it.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult, TurnResult
from turntable.systems.farreach.summary import placements

_SERIES = (("bottleneck partition", drawing.BLUE), ("rotated partition", drawing.ORANGE))


def imported(cell: CellResult) -> Drawing:
    count = cell.turns[0].expected_iterations

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for index, turn in enumerate(cell.turns):
            aside = 0.12 * (index - (len(cell.turns) - 1) / 2)  # rounds side by side
            _paint(axes, turn, aside, named=index == 0)
        drawing.hatch_gaps(axes, cell.missing)
        drawing.integer_ticks(axes, count)
        axes.set_ylim(bottom=0)
        axes.set_ylim(top=1.08 * axes.get_ylim()[1])
        axes.set_xlabel("iteration (0: bottleneck alone; then with one rotated partition each)")
        axes.set_ylabel("throughput (kops/s)")
        rounds = f", {len(cell.turns)} rounds side by side" if len(cell.turns) > 1 else ""
        drawing.title(axes, f"Throughput of both partitions, by iteration{rounds}")
        drawing.legend(axes)

    description = f"{cell.label}: throughput of the bottleneck and the rotated partition"
    said = stamp.of_diagnostics([cell])
    return drawing.draw(f"imported-{cell.id}", description, said, 2.9, paint)


def _paint(axes: Axes, turn: TurnResult, aside: float, *, named: bool) -> None:
    """By switch and server together; named: once in the legend."""
    each = list(zip(turn.measurements, placements(turn.measurements), strict=True))
    rates = (
        [(m.iteration, p.bottleneck) for m, p in each],
        [(m.iteration, p.rotated) for m, p in each if p.rotated is not None],
    )
    for (name, colour), points in zip(_SERIES, rates, strict=True):
        axes.plot(
            [iteration + aside for iteration, _ in points],
            [rate.total / 1e3 for _, rate in points], ls="", marker="o", ms=4.5, color=colour,
            label=name if named else "_nolegend_",
        )  # fmt: skip
