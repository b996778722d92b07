"""Figure of what each method's program takes of a switch."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turntable.plot import drawing
from turntable.plot.drawing import Drawing
from turntable.systems.farreach.plot.bars import PAPER_MARK
from turntable.systems.farreach.plot.methods import bar_style
from turntable.systems.farreach.resources import Program, artifact

_PANELS = (  # resource, title, divisor
    ("match_tables", "Match tables", 1),
    ("registers", "Registers", 1),
    ("register_bits", "Registers (MiB)", 8 * 2**20),
    ("stateful_alus", "Stateful ALUs (Tofino)", 1),
    ("sram_blocks", "SRAM blocks (Tofino)", 1),
)


def resources(programs: Sequence[Program], run: str) -> Drawing:
    """A panel per resource; those of the Tofino compiler only where it was asked."""
    panels = [
        panel for panel in _PANELS if any(each.value(panel[0]) is not None for each in programs)
    ]

    def paint(figure: Figure) -> None:
        every = figure.subplots(1, len(panels), squeeze=False)[0]
        figure.subplots_adjust(wspace=0.3)
        for axes, (resource, title, divisor) in zip(every, panels, strict=True):
            _panel(axes, programs, resource, divisor)
            drawing.title(axes, title)
        handles = {}
        for axes in every:
            handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        figure.legend(
            list(handles.values()), list(handles), loc="lower left", ncols=len(handles),
            bbox_to_anchor=(0.06, 0.0), borderaxespad=0.3,
        )  # fmt: skip

    said = f"run {run}  ·  as compiled: no measurement"
    words = "; ".join(_words(programs, resource, title) for resource, title, _ in panels)
    return drawing.draw("resources", words, said, 3.2, paint)


def _panel(axes: Axes, programs: Sequence[Program], resource: str, divisor: int) -> None:
    for x, program in enumerate(programs):
        value = program.value(resource)
        if value is not None:
            style = bar_style(program.method)
            axes.bar(x, value / divisor, 0.7, label=program.method, **style)
        theirs = artifact(program.method, resource)
        if theirs is not None:
            axes.plot(x, theirs / divisor, ls="", label="artifact's P4", zorder=4, **PAPER_MARK)
    axes.set_xticks([])
    axes.set_xlim(-0.6, len(programs) - 0.4)
    axes.set_ylim(bottom=0)


def _words(programs: Sequence[Program], resource: str, title: str) -> str:
    return f"{title}: " + ", ".join(f"{p.method} {p.value(resource)}" for p in programs)
