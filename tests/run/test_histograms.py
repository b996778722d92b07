"""Merging and percentiles, against the HdrHistogram library where the weights are whole."""

from __future__ import annotations

import random

import pytest
from hdrh.histogram import HdrHistogram

from turntable.histograms import merge


def encoded(*values_ns: int) -> str:
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    for value in values_ns:
        histogram.record_value(value)
    return histogram.encode().decode()


def test_weights_move_the_percentiles() -> None:
    # 2 x 1 µs with weight 1/2 and 1 x 2 µs with weight 3: shares 1/4 and 3/4.
    merged = merge([(encoded(1000, 1000), 0.5), (encoded(2000), 3)])
    assert merged.values == (1.0, 2.0)
    assert merged.weights == (1.0, 3.0)
    assert [merged.percentile(percent) for percent in (1, 25, 26, 100)] == [1.0, 1.0, 2.0, 2.0]


def test_percentile_is_the_first_value_that_reaches_the_share() -> None:
    merged = merge([(encoded(*range(1000, 2000, 10)), 1)])  # 1.00, 1.01, ... 1.99 µs
    assert merged.percentile(50) == pytest.approx(1.49)
    assert merged.percentile(90) == pytest.approx(1.89)
    assert merged.percentile(99.9) == pytest.approx(1.99)


def test_merged_percentiles_are_those_of_all_values_together() -> None:
    chance = random.Random(1)
    parts = [[round(chance.lognormvariate(13, 1)) for _ in range(2000)] for _ in range(4)]
    merged = merge([(encoded(*values), 1) for values in parts])
    everything = sorted(value for values in parts for value in values)
    for percent in (50, 90, 99):
        exact_us = everything[round(len(everything) * percent / 100) - 1] / 1000
        assert merged.percentile(percent) == pytest.approx(exact_us, rel=1e-3)


def test_weighting_all_parts_alike_changes_nothing() -> None:
    parts = [encoded(1000, 5000, 9000), encoded(2000)]
    once, third = merge([(part, 1) for part in parts]), merge([(part, 1 / 3) for part in parts])
    assert [once.percentile(p) for p in (25, 50, 75, 100)] == [
        third.percentile(p) for p in (25, 50, 75, 100)
    ]


def test_empty_histograms_have_no_percentiles() -> None:
    assert merge([(encoded(), 1)]).percentile(50) is None
