"""Intervals against printed tables of Student's t."""

from __future__ import annotations

import math

import pytest

from turntable.report.estimate import estimate, t_quantile


@pytest.mark.parametrize(
    ("degrees", "quantile"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)]
)
def test_quantiles(degrees: int, quantile: float) -> None:
    assert t_quantile(degrees) == pytest.approx(quantile, abs=5e-4)


def test_interval() -> None:
    # 1 to 5: mean 3, standard deviation sqrt(10 / 4) = 1.5811, 2.776 * 1.5811 / sqrt 5 = 1.963.
    result = estimate([1, 2, 3, 4, 5])
    assert (result.mean, result.n) == (3, 5)
    assert result.half_width == pytest.approx(2.776 * math.sqrt(2.5 / 5), abs=1e-3)


def test_one_value_has_no_interval() -> None:
    result = estimate([2.5])
    assert (result.mean, result.half_width, result.n) == (2.5, None, 1)


def test_missing_values_are_no_zeros() -> None:
    assert estimate([None, 4.0, None]).mean == 4.0
    assert estimate([None]) is None
    assert estimate([]) is None
