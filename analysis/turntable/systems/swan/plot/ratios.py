"""Two experiments field by field: how many times as long the percentile takes in the second."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from turntable.plot import drawing
from turntable.plot.drawing import Drawing
from turntable.systems.swan.compare import Pair
from turntable.systems.swan.plot.styles import styles

_HEIGHT_IN = 4.2
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 5, 10, 20, 50, 100)
_ASIDE = 0.7  # of the room of a load, taken by all aggressors together


def ratios(pairs: Sequence[Pair], stamp: str) -> Drawing | None:
    """None where no field has both latencies."""
    known = [pair for pair in pairs if pair.ratio]
    if not known:
        return None
    names = list(dict.fromkeys(pair.aggressor for pair in known))
    loads = sorted({pair.load for pair in known})

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        looks = styles(names)
        for position, name in enumerate(names):
            aside = _ASIDE * ((position + 0.5) / len(names) - 0.5)
            own = [pair for pair in known if pair.aggressor == name]
            _row(axes, [loads.index(pair.load) + aside for pair in own], own, looks[name].line)
        axes.axhline(1, color=drawing.MUTED, lw=1)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(FixedLocator(_TICKS))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.minorticks_off()
        axes.set_xticks(range(len(loads)), [f"{load:g}" for load in loads])
        axes.set_xlabel("load (share of the peak)")
        axes.set_ylabel("second / first")
        drawing.legend_beside(axes)

    description = "Ratio of the percentiles of two experiments with its 95 % interval, by load"
    return drawing.draw("ratios", description, stamp, _HEIGHT_IN, paint)


def _row(axes: Axes, xs: Sequence[float], pairs: Sequence[Pair], line: dict[str, object]) -> None:
    values = [pair.ratio.value for pair in pairs]
    axes.plot(xs, values, **(line | {"ls": ""}), label=pairs[0].aggressor)
    for x, pair in zip(xs, pairs, strict=True):
        if pair.ratio.interval:
            axes.vlines(
                x, pair.ratio.interval.low, pair.ratio.interval.high, color=line["color"], lw=1.2
            )
