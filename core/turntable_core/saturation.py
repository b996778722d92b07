"""When queues grow for as long as one measures: the one place that says it, of measurements and of
simulations, whatever the system, and with which thresholds.

Few requests grow by chance. Both comparisons leave room for three standard errors:

* p99 of n independent latencies lies between the percentiles 99 -+ 3 * 100 * sqrt(0.99 * 0.01 / n)
  of what was measured, since the number of those above the true p99 is binomial. Requests behind
  the same slow one are slow together: measured were 1 to 10 in a row up to a load of 0.7. So of n
  requests n / 10 are independent: the second half's 98.58th percentile against the first one's
  99.42nd for the 50,000 of each half of a usual window, nothing to compare below 8,910.
* Answers that come after the window are those of the requests under way at its end, less those
  under way at its begin: two numbers around rate * mean latency (Little), each with the error of a
  Poisson variable at least.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

# More than this share of what was offered was answered too late; or, from the first to the second
# half, p99 has grown by more than this and the mean has, too. p99 alone jumps where it sits between
# two values of a bimodal distribution.
_LATE_SHARE = 0.02
_P99_GROWTH, _MEAN_GROWTH = 1.2, 1.5

_ERRORS = 3
_SLOW_TOGETHER = 10


@dataclass(frozen=True)
class Half:
    """Latencies of the requests of one half of the window."""

    count: float
    mean: float
    percentile: Callable[[float], float | None]


def is_late(late: float, offered: float, under_way: float) -> bool:
    """late: requests that were answered after the window; under_way: of those of any instant."""
    return late > _LATE_SHARE * offered + _ERRORS * math.sqrt(2 * under_way)


def grows(first: Half, second: Half) -> bool:
    """Of the second half, as many as it has fewer answers than the first were still under way at
    the end of it all: they are later than any that were answered.
    """
    if second.mean <= _MEAN_GROWTH * first.mean:
        return False
    most = 99 + _p99_error(first.count)
    if most >= 100:
        return False  # nothing measured is surely above the true p99
    sent = max(first.count, second.count)
    least = (99 - _p99_error(sent)) * sent / second.count if second.count else 100.0
    if least >= 100:
        return True
    low, high = second.percentile(least), first.percentile(most)
    return low is not None and high is not None and low > _P99_GROWTH * high


def _p99_error(count: float) -> float:
    """In percent of the requests."""
    independent = max(count / _SLOW_TOGETHER, 1)
    return min(_ERRORS * 100 * math.sqrt(0.99 * 0.01 / independent), 99)
