"""Percentiles of merged histograms. They are asked for again and again: by rules, table, chart."""

from __future__ import annotations

from functools import lru_cache

from turntable.histograms import Merged, merge


def percentile_us(
    texts: tuple[str, ...], percent: float, unanswered: int = 0, waited_us: float = 0.0
) -> float | None:
    """Of HdrHistogram V2 texts, merged; None where nothing was recorded and nothing is missing.

    unanswered: requests that no histogram has. They count as slower than all others, so that a
    server that answers few of its requests does not look fast; where the percentile is one of them,
    it is at least what the slowest answer took, and how long all were waited for (waited_us).
    """
    found = merged(texts)
    if not found.total:
        return waited_us if unanswered else None
    of_answered = percent * (found.total + unanswered) / found.total
    value = found.percentile(min(100.0, of_answered))
    return max(value, waited_us) if of_answered > 100 else value


@lru_cache(maxsize=5_000)
def merged(texts: tuple[str, ...]) -> Merged:
    return merge((text, 1.0) for text in texts)
