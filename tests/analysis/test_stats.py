"""Intervals against printed tables of Student's t."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from turntable.stats import estimate, t_quantile, with_interval


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


def test_frame_by_group() -> None:
    frame = pd.DataFrame({"method": ["b", "b", "b", "a"], "rate": [1.0, 3.0, None, 7.0]})
    result = with_interval(frame, ["method"], ["rate"])
    assert list(result["method"]) == ["b", "a"]  # as they appear
    assert list(result["rate"]) == [2, 7]
    assert list(result["rate_n"]) == [2, 1]
    # 12.706 * sqrt 2 / sqrt 2; one value has no spread.
    assert result["rate_half_width"][0] == pytest.approx(12.706, abs=1e-3)
    assert math.isnan(result["rate_half_width"][1])


def test_percentiles_are_not_averaged() -> None:
    frame = pd.DataFrame({"method": ["a"], "latency_p99_us": [5.0]})
    with pytest.raises(ValueError, match=r"latency_p99_us: percentiles are not averaged"):
        with_interval(frame, ["method"], ["latency_p99_us"])
