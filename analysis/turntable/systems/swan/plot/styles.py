"""Colour and mark of each aggressor, the same in all panels of a figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from turntable.plot import drawing
from turntable_systems.swan.aggressors import BASELINE, PLACEBO

SLO_COLOUR = drawing.VERMILION
_COLOURS = tuple(
    colour for colour in drawing.SERIES if colour not in (SLO_COLOUR, drawing.INK, "#000000")
)


@dataclass(frozen=True)
class Style:
    colour: str
    marker: str
    dashes: str = "-"

    @property
    def line(self) -> dict[str, Any]:
        return {
            "color": self.colour,
            "marker": self.marker,
            "ls": self.dashes,
            "ms": 4.5,
            "lw": 1.5,
        }


def styles(names: Iterable[str]) -> dict[str, Style]:
    """Baseline in the ink of words, the placebo muted; more than five others are dashed."""
    every = dict.fromkeys(names)
    others = [name for name in every if name not in (BASELINE, PLACEBO)]
    marks = zip(cycle(_COLOURS), cycle(drawing.MARKERS[1:]), strict=False)
    found = {
        name: Style(*mark, "-" if index < len(_COLOURS) else "--")
        for index, (name, mark) in enumerate(zip(others, marks, strict=False))
    }
    found |= {BASELINE: Style(drawing.INK, "o"), PLACEBO: Style(drawing.MUTED, "P", ":")}
    return {name: found[name] for name in every}
