"""Repetitions of a percentile: their centre, spread and interval, on the logarithmic scale.

Latencies are skewed and compared as ratios. The interval of the mean logarithm follows Student's t;
its bounds, and the mean, are given as latencies again. Whether an SLO holds is none of it: a
geometric mean hides one bad repetition among good ones (profile.Field.sli_us).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, geometric_mean, median, stdev, variance

LEAST = 3  # repetitions of which an interval is made
PERCENT = 95  # of every interval


@dataclass(frozen=True)
class Interval:
    low: float
    high: float

    def overlaps(self, other: Interval) -> bool:
        return self.low <= other.high and other.low <= self.high

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Spread:
    """Of positive values, in order of measurement; at least one."""

    values: tuple[float, ...]
    percent: float = PERCENT  # of the interval

    @property
    def centre(self) -> float:
        return geometric_mean(self.values)

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def interval(self) -> Interval | None:
        """None of fewer than three repetitions."""
        if len(self.values) < LEAST:
            return None
        logs = [math.log(value) for value in self.values]
        half = t_quantile(len(logs) - 1, self.percent) * stdev(logs) / math.sqrt(len(logs))
        middle = fmean(logs)
        return Interval(math.exp(middle - half), math.exp(middle + half))


@dataclass(frozen=True)
class Ratio:
    """Of the second's centre to the first's, with the interval of Welch's test."""

    value: float
    interval: Interval | None

    @property
    def is_clear(self) -> bool | None:
        """Whether the interval leaves out 1: no difference. None: there is no interval."""
        return None if self.interval is None else 1.0 not in self.interval

    @property
    def smallest_seen(self) -> float | None:
        """The factor from which on a ratio with this scatter is clear, in either direction. A true
        difference by it is seen in half of the comparisons.
        """
        if self.interval is None:
            return None
        return math.sqrt(self.interval.high / self.interval.low)


def ratio(first: Spread, second: Spread) -> Ratio:
    value = second.centre / first.centre
    if min(len(first.values), len(second.values)) < LEAST:
        return Ratio(value, None)
    one, other = ([math.log(v) for v in spread.values] for spread in (first, second))
    parts = [variance(logs) / len(logs) for logs in (one, other)]
    if sum(parts) == 0:
        return Ratio(value, Interval(value, value))
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(logs) - 1) for part, logs in zip(parts, (one, other), strict=True)
    )
    half = t_quantile(freedom, first.percent) * math.sqrt(sum(parts))
    return Ratio(value, Interval(value * math.exp(-half), value * math.exp(half)))


def t_quantile(degrees_of_freedom: float, percent: float) -> float:
    """Two-sided: 4.303 for 2 degrees of freedom and 95 %."""
    from scipy.special import stdtrit  # noqa: PLC0415  (0.3 s that phases of a run do not need)

    return float(stdtrit(degrees_of_freedom, (1 + percent / 100) / 2))
