"""Lpf and Wred as docs/p4soft.md says what they compute: averages in real numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import tree


@dataclass
class _Cell:
    value: float
    since_s: int


class Filtering:
    """cells: averages by the filter's name and the number of the cell, once they have begun."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, int], _Cell] = {}

    def result(self, filter_: tree.Filter, number: int, value: int, now_s: int) -> int:
        spec, key = filter_.cells[number], (filter_.name, number)
        before = self._cells.get(key)
        if isinstance(spec, tree.Average):
            average = _sum(spec, before, value, now_s)
            if spec.kind == "SAMPLE":
                rises = before is not None and value > before.value
                average = _follow(spec.gain_s if rises else spec.decay_s, before, value, now_s)
            self._cells[key] = _Cell(average, now_s)
            scaled = math.floor(average + 0.5) >> spec.scale_down
            return min(scaled, (1 << filter_.type.width) - 1)
        average = _follow(spec.time_s, before, value, now_s)
        self._cells[key] = _Cell(average, now_s)
        assert filter_.values is not None
        drop, keep = filter_.values
        return drop if average >= spec.high else keep


def _follow(time_s: float, before: _Cell | None, value: int, now_s: int) -> float:
    """The distance to the value falls by the factor e each time constant."""
    if before is None:
        return value
    return value + (before.value - value) * _remains(time_s, before, now_s)


def _sum(spec: tree.Average, before: _Cell | None, value: int, now_s: int) -> float:
    """Values are added to a sum that decays."""
    return value if before is None else before.value * _remains(spec.decay_s, before, now_s) + value


def _remains(time_s: float, before: _Cell, now_s: int) -> float:
    return math.exp(-(now_s - before.since_s) / time_s) if time_s else 0
