"""Figures of results: throughput and imbalance of every cell, and latency."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from turntable.histograms import Merged
from turntable.report import drawing
from turntable.report.contents import Cell, Contents

# Curve points are kept where the share has grown by this much; finer is not visible.
_CURVE_STEP = 0.002

_MARKS = (  # label, summary column, marker style
    ("prediction", {"marker": "D", "mfc": "white", "mec": drawing.MUTED, "ms": 7}),
    ("trace-exact", {"marker": "|", "mec": drawing.INK, "ms": 15, "mew": 1.8}),
    ("paper", {"marker": "s", "mfc": "none", "mec": drawing.VERMILION, "ms": 9, "mew": 1.5}),
)


def throughput(contents: Contents, stamp: str) -> str:
    cells = contents.cells
    height_in = 1.6 + 0.42 * len(cells)
    label_in = 0.35 + 0.068 * max(len(cell.label) for cell in cells)

    def paint(figure: Figure) -> None:
        normalized, imbalance, total = figure.subplots(1, 3, sharey=True)
        figure.subplots_adjust(wspace=0.1)
        _ratios(normalized, cells, "normalized_throughput", "normalized")
        _ratios(imbalance, cells, "imbalance_ratio", "imbalance")
        _totals(total, cells)
        drawing.title(normalized, "Normalized throughput")
        drawing.title(imbalance, "Imbalance")
        drawing.title(total, "Aggregate throughput" + (" (emulated)" if contents.emulated else ""))
        normalized.set_xlabel("total / busiest server (ratio)")
        imbalance.set_xlabel("busiest / idlest server (ratio)")
        note = "kops/s; not comparable with a rack's" if contents.emulated else "kops/s"
        total.set_xlabel(note)
        normalized.set_yticks(range(len(cells)), [cell.label for cell in cells])
        normalized.set_ylim(len(cells) - 0.5, -0.5)
        handles = {}
        for axes in (normalized, total):
            handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        figure.legend(
            handles.values(), handles.keys(), loc="upper right", ncols=len(handles),
            bbox_to_anchor=(0.99, 1.0), borderaxespad=0.1,
        )  # fmt: skip
        figure.subplots_adjust(top=1 - 0.62 / height_in)

    description = "Normalized throughput, imbalance and aggregate throughput of every cell"
    return drawing.draw("throughput", description, stamp, height_in, paint, left_in=label_in)


def latency(curves: Sequence[tuple[Cell, Merged]], stamp: str) -> str:
    """Cumulative distribution of each cell's merged histograms."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for index, (cell, merged) in enumerate(curves):
            color = drawing.SERIES[index % len(drawing.SERIES)]
            style = ("-", "--", ":")[index // len(drawing.SERIES) % 3]
            axes.step(*curve(merged), where="post", color=color, ls=style, label=cell.label, lw=1.6)
        axes.set_xscale("log")
        axes.set_ylim(0, 1.005)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(visible=True, which="minor", axis="x", lw=0.3)
        axes.set_xlabel("queueing latency in a saturated closed loop (µs, logarithmic)")
        axes.set_ylabel("share of operations (cumulative)")
        drawing.title(axes, "Queueing latency, merged histograms")
        axes.legend(loc="upper left")

    return drawing.draw(
        "latency", "Cumulative distribution of the queueing latency", stamp, 3.4, paint
    )


def curve(merged: Merged) -> tuple[list[float], list[float]]:
    """(µs, cumulative share), ascending, ending at 1; thinned to what can be seen."""
    total = merged.total
    xs, ys, seen = [merged.values[0]], [0.0], 0.0
    for value, weight in zip(merged.values, merged.weights, strict=True):
        seen += weight
        if seen / total - ys[-1] >= _CURVE_STEP:
            xs.append(value)
            ys.append(seen / total)
    return [*xs, merged.values[-1]], [*ys, 1.0]


def _ratios(axes: Axes, cells: Sequence[Cell], column: str, prediction: str) -> None:
    """Expected values as open marks, the measurement as a dot with its interval."""
    for row, cell in enumerate(cells):
        values = (
            cell.predicted(f"predicted_{prediction}"),
            cell.predicted(f"trace_{prediction}"),
            cell.paper[column],
        )
        for (label, style), value in zip(_MARKS, values, strict=True):
            if value is not None:
                axes.plot(value, row, ls="", label=label, zorder=3, **style)
        result = cell.measured(column)
        if result is not None:
            axes.errorbar(
                result.mean, row, xerr=result.half_width, fmt="o", ms=6, color=drawing.BLUE,
                capsize=4, label="measured", zorder=4,
            )  # fmt: skip
    _widen(axes)
    for row, cell in enumerate(cells):
        if cell.measured(column) is None:
            _gap(axes, row, cell)


def _widen(axes: Axes) -> None:
    """Room at both sides, and at least 5 % of the value: a permille must not look like a gulf."""
    low, high = axes.dataLim.intervalx
    room = max(0.12 * (high - low), 0.05 * high - (high - low) / 2)
    axes.set_xlim(low - room, high + room)


def _totals(axes: Axes, cells: Sequence[Cell]) -> None:
    """Stacked: answered by the servers, and by the switch where it answers anything."""
    for row, cell in enumerate(cells):
        total, server, switch = (
            cell.measured(f"{name}_ops_per_s") for name in ("aggregate", "server", "switch")
        )
        if total is None or server is None or switch is None:
            _gap(axes, row, cell)
            continue
        axes.barh(row, server.mean / 1e3, 0.5, color=drawing.BLUE, alpha=0.75, label="by servers")
        if switch.mean > 0:
            axes.barh(
                row, switch.mean / 1e3, 0.5, server.mean / 1e3,
                color=drawing.ORANGE, label="by the switch",
            )  # fmt: skip
        if total.half_width is not None:
            axes.errorbar(
                total.mean / 1e3, row, xerr=total.half_width / 1e3, fmt="none",
                ecolor=drawing.INK, capsize=4,
            )  # fmt: skip
    if not axes.patches:
        axes.set_xticks([])
    axes.margins(x=0.1)
    axes.set_xlim(left=0)


def _gap(axes: Axes, row: int, cell: Cell) -> None:
    """Says in words what is missing, below the row's marks."""
    axes.text(
        0.98, row + 0.34, f"measured: {cell.gap or 'undefined'}", ha="right", va="center", size=8,
        style="italic", color=drawing.VERMILION, transform=axes.get_yaxis_transform(),
    )  # fmt: skip
