"""Round trips as nodes have them, by hundredths of the messages -> a row for each size.

Nodes keep no histogram of every size: a row is of a hundredth of the messages, or of all that end
with the same size, and its size is the largest of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from turntable.histograms import Merged, merge
from turntable.systems.homa.artifact.experiment import RoundTrips
from turntable_systems.homa.distribution import Distribution


def rows_of(hundredths: Sequence[Iterable[str]], distribution: Distribution) -> list[RoundTrips]:
    """hundredths: histograms of each. Those without a call have no row."""
    sized = zip(distribution.largest_of_hundredths(), hundredths, strict=True)
    rows = []
    for size, group in groupby(sized, key=lambda one: one[0]):
        merged = merge((text, 1.0) for _, texts in group for text in texts)
        if merged.values:
            rows.append(_row(size, merged))
    return rows


def _row(size: int, merged: Merged) -> RoundTrips:
    average = sum(us * n for us, n in zip(merged.values, merged.weights, strict=True))
    median, p90, p99, p999 = (merged.percentile(percent) for percent in (50, 90, 99, 99.9))
    return RoundTrips(
        size=size,
        samples=round(merged.total),
        min_us=merged.values[0],
        average_us=average / merged.total,
        median_us=median,
        p90_us=p90,
        p99_us=p99,
        p999_us=p999,
        max_us=merged.values[-1],
    )
