"""Latency histograms: decoded from HdrHistogram's V2 text, merged with weights, and read.

Percentiles are never averaged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
    counts = histogram.counts[:]  # few of some 30,000 are not zero: found at C's pace, not Python's
    return {
        (histogram.get_value_from_index(index) + _half_bucket(histogram, index)) / 1000: counts[
            index
        ]
        for index in compress(range(len(counts)), counts)
    }


def merge(parts: Iterable[tuple[str, float]]) -> Merged:
    """parts: (V2-encoded histogram, weight)."""
    weights: dict[float, float] = {}
    for text, weight in parts:
        for value, count in decode(text).items():
            weights[value] = weights.get(value, 0.0) + count * weight
    ordered = sorted(weights)
    return Merged(tuple(ordered), tuple(weights[value] for value in ordered))


def _half_bucket(histogram: HdrHistogram, index: int) -> int:
    value = histogram.get_value_from_index(index)
    return (
        (
            histogram.get_highest_equivalent_value(value)
            - histogram.get_lowest_equivalent_value(value)
            + 1
        )
        // 2
        if value
        else 0
    )
