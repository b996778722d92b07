"""Latency histograms: decoded from HdrHistogram's V2 text, merged with weights, and read.

Percentiles are never averaged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import compress

from hdrh.histogram import HdrHistogram

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}


@dataclass(frozen=True)
class Merged:
    """Weighted counts by value in microseconds, ascending;

    a value stands for its bucket's middle.
    """

    values: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.weights)

    def percentile(self, percent: float) -> float | None:
        """The first value at which the cumulative share reaches `percent`."""
        if not self.values:
            return None
        threshold = self.total * percent / 100
        seen = 0.0
        for value, weight in zip(self.values, self.weights, strict=True):
            seen += weight
            if seen >= threshold * (1 - 1e-12):  # sums of weights are not exact
                return value
        return self.values[-1]


def decode(text: str) -> dict[float, int]:
    """Count by value in microseconds, of one V2-encoded histogram of nanoseconds."""
    histogram = HdrHistogram.decode(text)
    if not histogram.total_count:
        return {}
    layout = (
        histogram.lowest_trackable_value,
        histogram.highest_trackable_value,
        histogram.significant_figures,
    )
    counts = histogram.counts[:]  # few of some 30,000 are not zero: found at C's pace, not Python's
    return {
        _middle_us(layout, index): counts[index] for index in compress(range(len(counts)), counts)
    }


def merge(parts: Iterable[tuple[str, float]]) -> Merged:
    """parts: (V2-encoded histogram, weight)."""
    weights: dict[float, float] = {}
    for text, weight in parts:
        for value, count in decode(text).items():
            weights[value] = weights.get(value, 0.0) + count * weight
    ordered = sorted(weights)
    return Merged(tuple(ordered), tuple(weights[value] for value in ordered))


@cache
def _middle_us(layout: tuple[int, int, int], index: int) -> float:
    """Of a bucket; kept, because a run has hundreds of histograms of the same layout."""
    histogram = _empty(layout)
    value = histogram.get_value_from_index(index)
    if value == 0:
        return 0.0
    lowest = histogram.get_lowest_equivalent_value(value)
    highest = histogram.get_highest_equivalent_value(value)
    return (value + (highest - lowest + 1) // 2) / 1000


@cache
def _empty(layout: tuple[int, int, int]) -> HdrHistogram:
    return HdrHistogram(*layout)
