"""Times as the paper has them: undilated, in microseconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from turntable.histograms import Merged, merge

# Column -> percentile.
PERCENTILES = {"p50_us": 50.0, "p99_us": 99.0, "p999_us": 99.9}
COLUMNS = ("mean_us", *PERCENTILES, "share_above_tail")


def undilated(texts: Iterable[str], dilation: float) -> Merged:
    return shorter(merge((text, 1.0) for text in texts), dilation)


def shorter(merged: Merged, dilation: float) -> Merged:
    return Merged(tuple(value / dilation for value in merged.values), merged.weights)


def values(merged: Merged, tail_us: float) -> dict[str, float | None]:
    """By COLUMNS."""
    if not merged.values:
        return dict.fromkeys(COLUMNS)
    return {
        "mean_us": mean_of(merged),
        **{name: merged.percentile(percent) for name, percent in PERCENTILES.items()},
        "share_above_tail": share_above(merged, tail_us),
    }


def share_above(merged: Merged, limit_us: float) -> float:
    """0 of nothing."""
    pairs = zip(merged.values, merged.weights, strict=True)
    return sum(weight for value, weight in pairs if value > limit_us) / max(merged.total, 1)


def mean_of(merged: Merged) -> float:
    pairs = zip(merged.values, merged.weights, strict=True)
    return sum(value * weight for value, weight in pairs) / merged.total


_TAILS_US = {
    **dict.fromkeys(("exp25", "bimodal25", "redis"), 300.0),
    **dict.fromkeys(("exp50", "bimodal50"), 600.0),
}


def has_few_values(distribution: str) -> bool:
    """Most services take one of two or three times, and percentiles jump between them."""
    return distribution.startswith(("bimodal", "trimodal"))


def tail_us(parameters: Mapping[str, Any]) -> float:
    """The share of the latencies above this time says more than p99 where that sits between two
    values of a bimodal distribution.
    """
    return _TAILS_US.get(parameters["distribution"]) or 12 * parameters["mean_us"]
