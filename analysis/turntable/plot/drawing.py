"""Figures as inline SVG: one look, text as text, no identifier twice on a page.

Colours become CSS variables with a default, so that a page can change them for a dark screen.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart with every common kind of colour vision.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
)
SERIES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "#000000")
MARKERS = "osD^vP*"
INK, MUTED, LINE, PALE, PAPER = "#1d2329", "#59636e", "#d5dae0", "#eef1f4", "#ffffff"
ALERT = "#a63d00"  # for words: vermilion is too pale for small text
VARIABLES = {  # colour -> CSS variable of the page
    INK: "ink", MUTED: "muted", LINE: "line", PALE: "pale", PAPER: "paper", "#000000": "ink",
    BLUE: "blue", ORANGE: "orange", GREEN: "green", VERMILION: "vermilion", PURPLE: "purple",
    SKY: "sky", ALERT: "invalid",
}  # fmt: skip

WIDTH_IN = 10.0  # text of 9 points is then still legible in a window of 800 pixels
_MARGIN_LEFT_IN, _MARGIN_RIGHT_IN, _MARGIN_TOP_IN, _MARGIN_BOTTOM_IN = 0.75, 0.15, 0.42, 0.72

STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "hatch.color": LINE,
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.handlelength": 1.6,
}


@dataclass(frozen=True)
class Drawing:
    name: str  # unique on a page
    description: str  # for those who cannot see it
    figure: Figure

    def svg(self) -> str:
        """An `<svg>` element to put into a page."""
        buffer = io.StringIO()
        with mpl.rc_context(_style(self.name)):
            self.figure.savefig(buffer, format="svg", transparent=True, metadata=_NO_METADATA)
        return _inline(buffer.getvalue(), self.description)

    def save(self, path: Path | str) -> None:
        """PDF, PNG or SVG, by the path's suffix."""
        with mpl.rc_context(_style(self.name)):
            self.figure.savefig(path)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return f'<div style="max-width: 1160px; background: {PAPER}">{self.svg()}</div>'


def draw(
    name: str,
    description: str,
    stamp: str,
    height_in: float,
    paint: Callable[[Figure], None],
    left_in: float = _MARGIN_LEFT_IN,
) -> Drawing:
    """stamp: printed inside the figure, so that a copy of it still says what it is of."""
    with mpl.rc_context(_style(name)):
        figure = Figure(figsize=(WIDTH_IN, height_in))
        FigureCanvasSVG(figure)
        figure.subplots_adjust(
            left=left_in / WIDTH_IN,
            right=1 - _MARGIN_RIGHT_IN / WIDTH_IN,
            bottom=_MARGIN_BOTTOM_IN / height_in,
            top=1 - _MARGIN_TOP_IN / height_in,
        )
        paint(figure)
        figure.text(0.998, 0.06 / height_in, stamp, ha="right", va="bottom", size=8, color=MUTED)
    return Drawing(name, description, figure)


def _style(name: str) -> Any:  # matplotlib lists every key it knows in a type of its own
    """Identifiers are hashes with this salt: the same each time, and of each figure its own."""
    return STYLE | {"svg.hashsalt": name}


def legend(axes: Axes, columns: int = 6) -> None:
    """Above the axes, at the right."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.985), ncols=columns, borderaxespad=0.2)


def legend_beside(axes: Axes) -> None:
    """At the right of the axes, which make room for it: for curves that leave none above or among
    them. The figure has to be as high as legend_in() of the labels.
    """
    labels = axes.get_legend_handles_labels()[1]
    room_in = 0.55 + 0.068 * max(map(len, labels), default=0)
    axes.figure.subplots_adjust(right=1 - (_MARGIN_RIGHT_IN + room_in) / WIDTH_IN)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


def legend_in(count: int) -> float:
    """Height of a figure whose legend beside it has so many entries."""
    return _MARGIN_TOP_IN + _MARGIN_BOTTOM_IN + 0.19 * count


def title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", size=9.5, weight="bold", color=INK)


def integer_ticks(axes: Axes, count: int) -> None:
    """0 to count - 1, or some of them."""
    step = max(1, -(-count // 32))
    axes.set_xticks(range(0, count, step))
    axes.set_xlim(-0.7, count - 0.3)


def row_labels(axes: Axes, labels: Sequence[str]) -> None:
    """At the left of rows 0, 1, …, of one line or several. Each line is a text of its own: a page's
    font is narrower than the one by which several would be aligned.
    """
    axes.set_yticks(range(len(labels)), [""] * len(labels))
    for row, label in enumerate(labels):
        lines = label.splitlines()
        for index, line in enumerate(lines):
            down = 11 * (index - (len(lines) - 1) / 2)
            axes.annotate(
                line, (0, row), xycoords=axes.get_yaxis_transform(), xytext=(-7, -down),
                textcoords="offset points", ha="right", va="center", annotation_clip=False,
            )  # fmt: skip


def hatch_gaps(axes: Axes, positions: Sequence[float], text: str = "missing") -> None:
    """Columns of the axes where nothing was measured."""
    for position in positions:
        axes.axvspan(
            position - 0.5, position + 0.5, facecolor=PALE, edgecolor=LINE, hatch="///", lw=0
        )
    if len(positions) <= 16:
        for position in positions:
            label = axes.text(
                position, 0.05, text, ha="center", va="bottom", size=8, color=MUTED,
                transform=axes.get_xaxis_transform(),
            )  # fmt: skip
            label.set_rotation(90)


# No wider than DejaVu Sans, by whose measures everything is placed.
_FONTS = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def _inline(svg: str, description: str) -> str:
    """For use inside HTML: without prologue and style, and only with identifiers that are used."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda match: match[0] if match[1] in used else "", svg)
    (view_box, *_) = re.findall(r'viewBox="[^"]+"', svg)
    head = f'<svg {view_box} role="img" aria-label="{escape(description)}">'
    body = re.sub(r"'DejaVu Sans', [^;\"]*", _FONTS, svg[svg.index(">") + 1 :])
    for colour, variable in VARIABLES.items():
        value = f"var(--{variable}, {colour})"
        body = body.replace(f": {colour}", f": {value}")
        body = body.replace(f'fill="{colour}"', f'style="fill: {value}"')  # inside hatches
    return head + re.sub(r"\n\s*\n+", "\n", body)
