"""Percentiles of merged histograms."""

from __future__ import annotations

from functools import lru_cache

from turntable.histograms import Merged, merge


def percentile_us(texts: tuple[str, ...], percent: float) -> float | None:
    """Of HdrHistogram V2 texts, merged; None where nothing was recorded."""
    return merged(texts).percentile(percent)


@lru_cache(maxsize=1_000)
def merged(texts: tuple[str, ...]) -> Merged:
    return merge((text, 1.0) for text in texts)
