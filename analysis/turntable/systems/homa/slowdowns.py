"""Slowdown: a message's round trip over that of one of its size on the idle network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from turntable.histograms import Merged, merge

HALF = 5  # tenths: the smaller half of the messages


def merged(of_tenths: Iterable[Iterable[str]]) -> Merged:
    """Of histograms of thousandths; the values are slowdowns."""
    return merge((text, 1.0) for texts in of_tenths for text in texts)


def percentiles(of_tenths: Sequence[Iterable[str]], percent: float) -> list[float | None]:
    """Of each tenth."""
    return [merged([texts]).percentile(percent) for texts in of_tenths]
