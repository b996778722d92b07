"""Round trips as nodes have them, by hundredths of the messages -> a row for each size.

Nodes keep no histogram of every size: a row is of a hundredth of the messages, or of all that end
with the same size, and its size is the largest of them. Where it has smaller ones too, its round
trips over the baseline of the largest mean nothing: its slowdowns are those of its calls, each over
the baseline of its own size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from turntable.histograms import Merged, merge
from turntable.systems.homa.artifact.experiment import RoundTrips, Slowdown
from turntable.systems.homa.slowdowns import merged
from turntable_systems.homa.distribution import Distribution

Texts = Sequence[Iterable[str]]  # histograms of each hundredth


def rows_of(rtt_ns: Texts, slowdown_1000: Texts, distribution: Distribution) -> list[RoundTrips]:
    """Hundredths without a call have no row."""
    least, largest = distribution.least_of_hundredths(), distribution.largest_of_hundredths()
    rows = []
    for size, group in groupby(range(len(largest)), key=largest.__getitem__):
        indices = list(group)
        round_trips = merge((text, 1.0) for index in indices for text in rtt_ns[index])
        if not round_trips.values:
            continue
        row = _row(size, round_trips)
        if least[indices[0]] < size:
            slowdown = _slowdown(merged(slowdown_1000[index] for index in indices))
            row = replace(row, least_size=least[indices[0]], slowdown=slowdown)
        rows.append(row)
    return rows


def _row(size: int, round_trips: Merged) -> RoundTrips:
    median, p90, p99, p999 = (round_trips.percentile(percent) for percent in (50, 90, 99, 99.9))
    return RoundTrips(
        size=size,
        samples=round(round_trips.total),
        min_us=round_trips.values[0],
        average_us=_mean(round_trips),
        median_us=median,
        p90_us=p90,
        p99_us=p99,
        p999_us=p999,
        max_us=round_trips.values[-1],
    )


def _slowdown(of_calls: Merged) -> Slowdown | None:
    """None: there was no baseline."""
    if not of_calls.values:
        return None
    return Slowdown(_mean(of_calls), of_calls.percentile(50), of_calls.percentile(99))


def _mean(of: Merged) -> float:
    return sum(value * n for value, n in zip(of.values, of.weights, strict=True)) / of.total
