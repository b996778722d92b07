"""Figure of an experiment as the paper draws it: a bar per method, side by side by factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.stats import Estimate
from turntable.systems.farreach.gains import gains, is_throughput
from turntable.systems.farreach.groups import factors, group
from turntable.systems.farreach.plot.methods import bar_style
from turntable_systems.farreach.methods import EVERY

_AXES = {"servers": "logical servers", "workload": "", "value_bytes": "bytes of a value"}
PAPER_MARK = {"marker": "s", "mfc": "none", "mec": drawing.VERMILION, "ms": 8, "mew": 1.5}

_CHARACTERS = 120  # below the axes
_LINE_IN = 0.16
_WHISKERS: Mapping[str, Any] = {"ecolor": drawing.INK, "capsize": 3, "elinewidth": 1, "zorder": 3}


@dataclass(frozen=True)
class Bar:
    group: str  # levels of all factors but the method
    method: str
    measured: Estimate | None
    trace: float | None
    paper: float | None


def bars(cells: Sequence[CellResult]) -> Drawing | None:
    """Normalized throughput of every method, and FarReach's gain over the others; None where the
    cells are no methods side by side.
    """
    cells = [cell for cell in cells if is_throughput(cell)]
    if len(cells) < 2:
        return None
    names = factors(cells)
    normalized = [_normalized(cell, group(cell, names)) for cell in cells]
    places = {(bar.group, bar.method) for bar in normalized}
    if len(places) < len(cells):
        return None
    gained = [
        Bar(group(g.cell, names), g.cell.parameters["method"], g.measured, g.trace, g.paper)
        for g in gains(cells)
    ]
    panels = [("Normalized throughput", "total / busiest server", normalized)]
    if gained:
        panels.append(("FarReach's gain: its aggregate throughput / the other's", "ratio", gained))

    groups = list(dict.fromkeys(bar.group for bar in normalized))
    lines = max(label.count("\n") for label in _labels(groups))

    def paint(figure: Figure) -> None:
        every = figure.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0]
        bottom_in = figure.subplotpars.bottom * figure.get_figheight() + _LINE_IN * lines
        figure.subplots_adjust(hspace=0.28, bottom=bottom_in / figure.get_figheight())
        for axes, (title, label, chosen) in zip(every, panels, strict=True):
            _paint(axes, groups, chosen)
            axes.set_ylabel(label)
            drawing.title(axes, title)
        drawing.legend(every[0])
        every[-1].set_xlabel(", ".join(filter(None, (_AXES.get(name, name) for name in names))))

    description = "Bars of every method: " + "; ".join(
        _words(title, chosen) for title, _, chosen in panels
    )
    height_in = 0.6 + 2.4 * len(panels) + _LINE_IN * lines
    return drawing.draw("bars", description, stamp.of_results(cells), height_in, paint)


def _normalized(cell: CellResult, group: str) -> Bar:
    return Bar(
        group,
        cell.parameters["method"],
        cell.measured("normalized_throughput"),
        cell.predicted("trace_normalized"),
        cell.paper["normalized_throughput"],
    )


def _paint(axes: Axes, groups: Sequence[str], chosen: Sequence[Bar]) -> None:
    methods = [method for method in EVERY if any(bar.method == method for bar in chosen)]
    width = 0.8 / len(methods)
    labelled: set[str] = set()

    def label(text: str) -> str:
        """Once in the legend."""
        known = text in labelled
        labelled.add(text)
        return "_nolegend_" if known else text

    for bar in sorted(chosen, key=lambda bar: methods.index(bar.method)):
        x = groups.index(bar.group) + (methods.index(bar.method) - (len(methods) - 1) / 2) * width
        if bar.measured is not None:
            half_width = bar.measured.half_width
            axes.bar(
                x, bar.measured.mean, 0.92 * width, label=label(bar.method), **bar_style(bar.method)
            )
            if half_width is not None:
                axes.errorbar(x, bar.measured.mean, half_width, fmt="none", **_WHISKERS)
        else:
            _gap(axes, x)
        if bar.trace is not None:
            ends = (x - 0.46 * width, x + 0.46 * width)
            axes.hlines(bar.trace, *ends, color=drawing.INK, lw=1.6, label=label("trace-exact"))
        if bar.paper is not None:
            axes.plot(x, bar.paper, ls="", label=label("paper"), zorder=4, **PAPER_MARK)
    axes.set_xticks(range(len(groups)), _labels(groups))
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.set_ylim(bottom=0)
    axes.margins(y=0.08)
    axes.grid(visible=False, axis="x")


def _labels(groups: Sequence[str]) -> list[str]:
    """A level per line where they would run into each other."""
    wide = sum(map(len, groups)) + 2 * len(groups) > _CHARACTERS
    return [label.replace(" · ", "\n") if wide else label for label in groups]


def _gap(axes: Axes, x: float) -> None:
    axes.text(
        x, 0.03, "no result", ha="center", va="bottom", rotation=90, size=8, style="italic",
        color=drawing.ALERT, transform=axes.get_xaxis_transform(),
    )  # fmt: skip


def _words(title: str, chosen: Sequence[Bar]) -> str:
    numbers = ", ".join(
        f"{bar.group} {bar.method} {bar.measured.mean:.2f}".strip()
        for bar in chosen
        if bar.measured
    )
    return f"{title} ({numbers or 'nothing measured'})"
