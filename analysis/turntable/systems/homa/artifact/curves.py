"""Slowdown by share of the messages, of each transport: in words and as the paper draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from turntable.systems.homa.artifact.slowdown_rows import SlowdownRow
from turntable_core.text_table import columns

if TYPE_CHECKING:  # matplotlib takes half a second, which a table need not pay
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AT = (5, 20, 50, 80, 95, 99, 100)  # percent of the messages
_ROW_IN = 2.9

Curves = Mapping[str, Sequence[SlowdownRow]]  # by name


def by_panel(rows: Sequence[SlowdownRow]) -> dict[tuple[str, str], dict[str, list[SlowdownRow]]]:
    """By workload and load."""
    found: dict[tuple[str, str], dict[str, list[SlowdownRow]]] = {}
    for row in rows:
        found.setdefault((row.workload, row.load), {}).setdefault(row.name, []).append(row)
    for curves in found.values():
        for curve in curves.values():
            curve.sort(key=lambda row: row.size)
    return found


def slowdown_lines(rows: Sequence[SlowdownRow]) -> list[str]:
    """p99 at some shares, and at the largest size."""
    lines = ["p99 slowdown at the size that so many of the messages do not exceed"]
    for (workload, load), curves in by_panel(rows).items():
        lines += ["", f"{workload}, payload {load} % of the link"]
        texts = [["", *(f"{percent} %" for percent in AT), "samples"]]
        for name, curve in curves.items():
            values = [f"{_at(curve, percent / 100).p99:.3g}" for percent in AT]
            texts.append([name, *values, f"{sum(row.samples for row in curve):,}"])
        lines += columns(texts, right=range(1, len(AT) + 2))
    return lines


def _at(curve: Sequence[SlowdownRow], share: float) -> SlowdownRow:
    return next((row for row in curve if row.fraction >= share), curve[-1])


def save_figure(rows: Sequence[SlowdownRow], source: str, path: Path) -> None:
    """PDF, PNG or SVG, by the path's suffix. source: what it says it is of."""
    from turntable.plot import drawing  # noqa: PLC0415

    panels = by_panel(rows)
    height = -(-len(panels) // 2)
    height_in = 1.0 + _ROW_IN * height

    def paint(figure: Figure) -> None:
        every = figure.subplots(height, min(2, len(panels)), squeeze=False)
        figure.subplots_adjust(wspace=0.16, hspace=0.42, top=1 - 0.62 / height_in)
        for axes, ((workload, load), curves) in zip(every.flat, panels.items(), strict=False):
            _panel(axes, curves)
            drawing.title(axes, f"{workload}, payload {load} %")
        for axes in list(every.flat)[len(panels) :]:
            axes.set_visible(False)

    description = "99th percentile of the slowdown by share of the messages, smallest first"
    drawing.draw("artifact_slowdown", description, source, height_in, paint).save(path)


def _panel(axes: Axes, curves: Curves) -> None:
    from turntable.plot import drawing  # noqa: PLC0415

    for index, (name, curve) in enumerate(curves.items()):
        axes.step(
            [0.0, *(100 * row.fraction for row in curve)],
            [curve[0].p99, *(row.p99 for row in curve)],
            where="pre",
            color=drawing.SERIES[index % len(drawing.SERIES)],
            label=name,
        )
    axes.set_yscale("log")
    axes.set_xlim(0, 100)
    axes.set_xticks(range(0, 101, 10))
    axes.set_xlabel("messages by size, smallest first (%)")
    axes.set_ylabel("p99 slowdown (logarithmic)")
    drawing.legend(axes, columns=4)
