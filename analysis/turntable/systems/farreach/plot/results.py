"""Figures of results: throughput and imbalance of every cell, and latency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import NOT_AVAILABLE, NOT_MEASURED, CellResult
from turntable.systems.farreach.plot.methods import COLOURS, line_styles

_MARKS: tuple[tuple[str, dict[str, Any]], ...] = (  # label, summary column, marker style
    ("prediction", {"marker": "D", "mfc": "white", "mec": drawing.MUTED, "ms": 7}),
    ("trace-exact", {"marker": "|", "mfc": "none", "mec": drawing.INK, "ms": 15, "mew": 1.8}),
    ("paper", {"marker": "s", "mfc": "none", "mec": drawing.VERMILION, "ms": 9, "mew": 1.5}),
)

_LONG_LABEL = 44  # characters
_BY_SWITCH: dict[str, Any] = {"alpha": 0.45, "hatch": "///", "edgecolor": drawing.PAPER, "lw": 0}


def throughput(cells: Sequence[CellResult]) -> Drawing:
    """Normalized throughput, imbalance and aggregate: prediction, trace-exact, paper, measured."""
    emulated = any(cell.run.emulated for cell in cells)
    labels = [_two_lines(cell) for cell in cells]
    height_in = 1.6 + 0.42 * len(cells)
    label_in = 0.35 + 0.068 * max(len(line) for label in labels for line in label.splitlines())

    def paint(figure: Figure) -> None:
        normalized, imbalance, total = figure.subplots(1, 3, sharey=True)
        figure.subplots_adjust(wspace=0.1)
        _ratios(normalized, cells, "normalized_throughput", "normalized")
        _ratios(imbalance, cells, "imbalance_ratio", "imbalance")
        _totals(total, cells)
        drawing.title(normalized, "Normalized throughput")
        drawing.title(imbalance, "Imbalance")
        drawing.title(total, "Aggregate (emulated)" if emulated else "Aggregate throughput")
        normalized.set_xlabel("total / busiest server (ratio)")
        imbalance.set_xlabel("busiest / idlest server (ratio)")
        note = "kops/s (not a rack's)" if emulated else "kops/s"
        total.set_xlabel(note)
        drawing.row_labels(normalized, labels)
        normalized.set_ylim(len(cells) - 0.4, -0.5)
        handles: dict[str, Artist] = dict(
            zip(*reversed(normalized.get_legend_handles_labels()), strict=True)
        )
        handles |= _neutral(cells)
        figure.legend(
            list(handles.values()), list(handles), loc="upper right", ncols=len(handles),
            bbox_to_anchor=(0.99, 1.0), borderaxespad=0.1,
        )  # fmt: skip
        figure.subplots_adjust(top=1 - 0.62 / height_in)

    description = (
        "Normalized throughput, imbalance and aggregate throughput of every cell; the table of "
        "results has the numbers"
    )
    said = stamp.of_results(cells)
    return drawing.draw("throughput", description, said, height_in, paint, left_in=label_in)


def _two_lines(cell: CellResult) -> str:
    """Long labels would leave no room for what they are of."""
    if len(cell.label) <= _LONG_LABEL or not cell.peculiarities:
        return cell.label
    peculiar = " · ".join(cell.peculiarities)
    return f"{cell.label.removesuffix(peculiar).removesuffix(' · ')}\n{peculiar}"


def scaling(cells: Sequence[CellResult]) -> Drawing | None:
    """Normalized throughput over the number of servers; None where all cells have the same."""
    groups: dict[tuple[str, str], list[CellResult]] = {}
    for cell in sorted(cells, key=lambda cell: cell.parameters["servers"]):
        key = (cell.parameters["workload"], cell.parameters["method"])
        groups.setdefault(key, []).append(cell)
    counts = sorted({cell.parameters["servers"] for cell in cells})
    if len(counts) == 1:
        return None

    style_of = line_styles([group[0] for group in groups.values()])

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for index, (key, group) in enumerate(groups.items()):
            aside = index / max(1, len(groups) - 1) - 0.5
            _scaling_of(axes, " ".join(key), group, aside, style_of(group[0]))
        axes.set_xscale("log", base=2)
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_ylim(bottom=0)
        axes.set_xlabel("logical servers")
        axes.set_ylabel("normalized throughput (ratio)")
        drawing.title(axes, "Normalized throughput by number of servers")
        axes.set_xlim(counts[0] * 0.85, counts[-1] * 1.18)
        drawing.legend_beside(axes)

    description = (
        f"Normalized throughput at {', '.join(map(str, counts))} servers, prediction and "
        "measurement; the table of results has the numbers"
    )
    height_in = max(3.4, drawing.legend_in(2 * len(groups) + 1))
    return drawing.draw("scaling", description, stamp.of_results(cells), height_in, paint)


def _scaling_of(
    axes: Axes, name: str, cells: Sequence[CellResult], aside: float, style: Mapping[str, Any]
) -> None:
    """One workload and method: a line of predictions, dots of measurements. aside: -0.5 to 0.5."""
    xs = [cell.parameters["servers"] for cell in cells]
    trace = [cell.predicted("trace_normalized") for cell in cells]
    expected = [nan if value is None else value for value in trace]
    axes.plot(xs, expected, lw=1, label=f"{name}: trace-exact", **style)
    measured = [
        (x, cell.measured("normalized_throughput")) for x, cell in zip(xs, cells, strict=True)
    ]
    present = [(x * 2 ** (0.05 * aside), result) for x, result in measured if result]
    axes.errorbar(
        [x for x, _ in present], [result.mean for _, result in present],
        yerr=[result.half_width or 0 for _, result in present], fmt="o", ms=5,
        color=style["color"], capsize=3, label=f"{name}: measured",
    )  # fmt: skip
    paper = [(x, cell.paper["normalized_throughput"]) for x, cell in zip(xs, cells, strict=True)]
    published = [(x, value) for x, value in paper if value is not None]
    if published:
        first = not any(line.get_label() == "paper" for line in axes.lines)
        label, style = _MARKS[2]
        axes.plot(
            *zip(*published, strict=True), ls="", label=label if first else "_nolegend_", **style
        )


def _ratios(axes: Axes, cells: Sequence[CellResult], column: str, prediction: str) -> None:
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
                result.mean, row, xerr=result.half_width, fmt="o", ms=6,
                color=COLOURS[cell.parameters["method"]], capsize=4, zorder=4,
            )  # fmt: skip
    _widen(axes)
    for row, cell in enumerate(cells):
        if cell.measured(column) is None:
            _gap(axes, row, cell)


def _widen(axes: Axes) -> None:
    """Room at both sides, and at least 5 % of the value: a permille must not look like a gulf."""
    if not axes.has_data():
        axes.set_xticks([])
        return
    low, high = axes.dataLim.intervalx
    room = max(0.12 * (high - low), 0.05 * high - (high - low) / 2)
    axes.set_xlim(low - room, high + room)


def _neutral(cells: Sequence[CellResult]) -> dict[str, Artist]:
    """What every method has in a colour of its own, for the legend."""
    handles: dict[str, Artist] = {}
    if any(cell.counted for cell in cells):
        handles["measured"] = Line2D([], [], marker="o", ls="", ms=6, color=drawing.MUTED)
        handles["by servers"] = Patch(color=drawing.MUTED, alpha=0.75)
    if any((part := cell.measured("switch_ops_per_s")) and part.mean > 0 for cell in cells):
        handles["by the switch"] = Patch(**_BY_SWITCH, facecolor=drawing.MUTED)
    return handles


def _totals(axes: Axes, cells: Sequence[CellResult]) -> None:
    """Stacked: answered by the servers, and by the switch where it answers anything."""
    for row, cell in enumerate(cells):
        total, server, switch = (
            cell.measured(f"{name}_ops_per_s") for name in ("aggregate", "server", "switch")
        )
        if total is None or server is None or switch is None:
            _gap(axes, row, cell)
            continue
        color = COLOURS[cell.parameters["method"]]
        axes.barh(row, server.mean / 1e3, 0.5, color=color, alpha=0.75)
        if switch.mean > 0:
            axes.barh(
                row, switch.mean / 1e3, 0.5, server.mean / 1e3, facecolor=color, **_BY_SWITCH
            )  # fmt: skip
        _paper_total(axes, row, cell)
        if total.half_width is not None:
            axes.errorbar(
                total.mean / 1e3, row, xerr=total.half_width / 1e3, fmt="none",
                ecolor=drawing.INK, capsize=4,
            )  # fmt: skip
    if not axes.patches:
        axes.set_xticks([])
    axes.margins(x=0.1)
    axes.set_xlim(left=0)


def _paper_total(axes: Axes, row: int, cell: CellResult) -> None:
    """Of servers that nothing but themselves limits, as the paper's."""
    paper = cell.paper["aggregate_ops_per_s"]
    if paper is not None and not cell.run.emulated:
        _, style = _MARKS[2]
        axes.plot(paper / 1e3, row, ls="", zorder=3, **style)


def _gap(axes: Axes, row: int, cell: CellResult) -> None:
    """Says in words what is missing, below the row's marks."""
    words = (
        cell.gap
        if cell.gap in (NOT_MEASURED, NOT_AVAILABLE)
        else f"measured: {cell.gap or 'undefined'}"
    )
    axes.text(
        0.98, row + 0.34, words, ha="right", va="center", size=8,
        style="italic", color=drawing.ALERT, transform=axes.get_yaxis_transform(),
    )  # fmt: skip
