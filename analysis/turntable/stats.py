"""Statistics across rounds and across histograms.

Rounds become a mean with its 95 % confidence interval. Latencies become one histogram of all
rounds, from which percentiles are read: percentiles themselves are never averaged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev, variance
from typing import TYPE_CHECKING

from turntable.histograms import PERCENTILES, Merged, decode, merge

if TYPE_CHECKING:  # half a second, which the phases of a run should not pay
    import pandas as pd

__all__ = [
    "CONFIDENCE",
    "PERCENTILES",
    "Estimate",
    "Merged",
    "decode",
    "difference",
    "estimate",
    "merge",
    "t_quantile",
    "with_interval",
]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    mean: float
    half_width: float | None  # of the interval; None with one value, which has no spread
    n: int


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """Of the values that exist; None when none does. A missing value is not a zero."""
    present = _present(values)
    if not present:
        return None
    n = len(present)
    half_width = t_quantile(n - 1) * stdev(present) / math.sqrt(n) if n > 1 else None
    return Estimate(fmean(present), half_width, n)


def difference(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate | None:
    """Mean of the second less that of the first, with Welch's interval: the variances need not be
    the same. `n` is the smaller number of values. None when either has no value.
    """
    a, b = (
        [v for v in values if v is not None and not math.isnan(v)] for values in (first, second)
    )
    if not a or not b:
        return None
    change, n = fmean(b) - fmean(a), min(len(a), len(b))
    if n < 2:
        return Estimate(change, None, n)
    parts = [variance(values) / len(values) for values in (a, b)]
    if sum(parts) == 0:
        return Estimate(change, 0.0, n)
    spread = sum(part**2 / (len(v) - 1) for part, v in zip(parts, (a, b), strict=True))
    return Estimate(change, t_quantile(sum(parts) ** 2 / spread) * math.sqrt(sum(parts)), n)


def t_quantile(degrees_of_freedom: float) -> float:
    """Two-sided: 2.776 for 4 degrees of freedom."""
    from scipy.special import stdtrit  # noqa: PLC0415  (0.3 s that one round does not need)

    return float(stdtrit(degrees_of_freedom, (1 + CONFIDENCE) / 2))


def with_interval(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Mean and interval of each column over the rows of a group, in the order of their appearance.

    frame: of turntable.tidy, rows that should not count left out. Result: `by`, then for every
    column c its mean `c`, `c_half_width` (NaN with one value) and `c_n`.

    Raises ValueError for percentiles: merge histograms instead (tidy.latency).
    """
    import pandas as pd  # noqa: PLC0415

    averaged = [column for column in columns if _is_percentile(column)]
    if averaged:
        raise ValueError(
            f"{', '.join(averaged)}: percentiles are not averaged; tidy.latency merges histograms"
        )
    rows = []
    for key, group in frame.groupby(list(by), sort=False, dropna=False):
        row = dict(zip(by, key, strict=True))
        for column in columns:
            result = estimate(group[column].astype(float).tolist())
            row[column] = result.mean if result else math.nan
            half_width = result.half_width if result else None
            row[f"{column}_half_width"] = math.nan if half_width is None else half_width
            row[f"{column}_n"] = result.n if result else 0
        rows.append(row)
    names = [f"{c}{suffix}" for c in columns for suffix in ("", "_half_width", "_n")]
    return pd.DataFrame(rows, columns=[*by, *names])


def _present(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None and not math.isnan(value)]


def _is_percentile(column: str) -> bool:
    return column in {f"latency_{name}_us" for name in PERCENTILES}
