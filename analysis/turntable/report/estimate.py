"""Several rounds as a mean with its 95 % confidence interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    mean: float
    half_width: float | None  # of the interval; None with one value, which has no spread
    n: int


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """Of the values that exist; None when none does. A missing value is not a zero."""
    present = [value for value in values if value is not None]
    if not present:
        return None
    n = len(present)
    half_width = t_quantile(n - 1) * stdev(present) / math.sqrt(n) if n > 1 else None
    return Estimate(fmean(present), half_width, n)


def t_quantile(degrees_of_freedom: int) -> float:
    """Two-sided: 2.776 for 4 degrees of freedom."""
    from scipy.special import stdtrit  # noqa: PLC0415  (0.3 s that one round does not need)

    return float(stdtrit(degrees_of_freedom, (1 + CONFIDENCE) / 2))
