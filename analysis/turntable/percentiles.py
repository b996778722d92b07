"""Percentiles of merged histograms. They are asked for again and again: by rules, table, chart."""

from __future__ import annotations

from functools import lru_cache

from turntable.histograms import Merged, merge


def percentile_us(texts: tuple[str, ...], percent: float, unanswered: int = 0) -> float | None:
    """Of HdrHistogram V2 texts, merged; None where nothing was recorded.

    unanswered: requests that no histogram has. They count as slower than all others, so that a
    server that answers few of its requests does not look fast; where the percentile is one of them,
    the slowest answer stands for it.
    """
    found = merged(texts)
    if not found.total:
        return None
    return found.percentile(min(100.0, percent * (found.total + unanswered) / found.total))


@lru_cache(maxsize=5_000)
def merged(texts: tuple[str, ...]) -> Merged:
    return merge((text, 1.0) for text in texts)
