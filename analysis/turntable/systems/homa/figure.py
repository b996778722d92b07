"""Slowdown by size, as the paper draws it: p99 over the messages in the order of their sizes, with
the sizes of each tenth below.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from turntable.plot import drawing, stamp
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.homa.summary import OF_TENTHS, PUBLISHED_AT
from turntable_systems.homa import sizes

_METHODS = ("basic", "homa-p1", "homa-p2", "homa-p4", "homa-p8", "tcp", "homa-p6")
_COLOURS = dict(zip(_METHODS, drawing.SERIES, strict=True))
_MARKS = dict(zip(_METHODS, drawing.MARKERS + "X", strict=False))
_OTHER_COLOUR, _OTHER_MARK = drawing.MUTED, "."
_PREDICTED = Line2D([], [], color=drawing.MUTED, lw=0.7)
_PUBLISHED = Line2D([], [], color=drawing.MUTED, marker="o", ms=7, mfc="none", ls="none")
_MIDDLES = [5 + 10 * tenth for tenth in range(len(OF_TENTHS))]
_EDGES = [10 * tenth for tenth in range(len(OF_TENTHS) + 1)]
_ROW_IN = 3.1


def slowdown_by_size(cells: Sequence[CellResult]) -> Drawing | None:
    """A panel for each distribution and load. None without a valid round."""
    panels: dict[str, list[CellResult]] = {}
    for cell in cells:
        if cell.measured(OF_TENTHS[0]) is not None:
            title = f"{cell.parameters['sizes']}, {cell.parameters['load']:.0%} load"
            panels.setdefault(title, []).append(cell)
    if not panels:
        return None
    rows = -(-len(panels) // 2)
    height_in = 1.0 + _ROW_IN * rows

    def paint(figure: Figure) -> None:
        every = figure.subplots(rows, min(2, len(panels)), squeeze=False)
        figure.subplots_adjust(wspace=0.16, hspace=0.42, top=1 - 0.62 / height_in)
        handles = {}
        for axes, (title, group) in zip(every.flat, panels.items(), strict=False):
            _panel(axes, group)
            drawing.title(axes, title)
            handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        for axes in list(every.flat)[len(panels) :]:
            axes.set_visible(False)
        handles |= {"predicted": _PREDICTED, "paper": _PUBLISHED}
        figure.legend(
            list(handles.values()), list(handles), loc="upper right", bbox_to_anchor=(0.99, 1.0),
            ncols=len(handles), borderaxespad=0.1,
        )  # fmt: skip

    description = (
        f"99th percentile of the slowdown by size of the message, {'; '.join(panels)}: lines are "
        "measured, thin ones predicted, hollow marks the paper's"
    )
    return drawing.draw("slowdown_by_size", description, stamp.of_results(cells), height_in, paint)


def _panel(axes: Axes, cells: Sequence[CellResult]) -> None:
    for cell in cells:
        method = cell.parameters["method"]
        colour, mark = _COLOURS.get(method, _OTHER_COLOUR), _MARKS.get(method, _OTHER_MARK)
        measured = [cell.measured(name).mean for name in OF_TENTHS]
        axes.plot(_MIDDLES, measured, color=colour, marker=mark, ms=4, label=_label(cell))
        predicted = [cell.predicted(f"predicted_{name}") for name in OF_TENTHS]
        if None not in predicted:
            axes.plot(_MIDDLES, predicted, color=colour, lw=0.7)
        published = {at: cell.paper.get(f"p99_slowdown_at_{at}") for at in PUBLISHED_AT}
        known = {at: value for at, value in published.items() if value is not None}
        axes.plot(list(known), list(known.values()), mark, ms=7, mfc="none", mec=colour, ls="none")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(0, 100)
    at_edges = sizes.at_shares(cells[0].parameters, [edge / 100 for edge in _EDGES])
    axes.set_xticks(_EDGES, [_short(size) for size in at_edges])
    axes.set_xlabel("size in bytes; between two marks are 10 % of the messages")
    axes.set_ylabel("p99 slowdown (logarithmic)")


def _short(size: int) -> str:
    for unit, letter in ((1_000_000, "M"), (1000, "K")):
        if size >= unit:
            return (
                f"{size / unit:.2g}{letter}" if size < 100 * unit else f"{size / unit:.0f}{letter}"
            )
    return str(size)


def _label(cell: CellResult) -> str:
    return ", ".join([cell.parameters["method"], *cell.peculiarities])
