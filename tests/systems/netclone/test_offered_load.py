"""Rates, windows and service times, against numbers that the paper or a pencil gives."""

from __future__ import annotations

import math

import pytest

from turntable_systems.netclone import offered_load, service

from .conftest import parameters


@pytest.mark.parametrize(
    ("distribution", "mean_us"),
    # Published means with jitter: netclone's server, §6 of the reference.
    [("exp25", 28.5), ("bimodal25", 54.15), ("exp50", 57.0), ("bimodal50", 108.3)],
)
def test_published_means(distribution: str, mean_us: float) -> None:
    assert service.mean_us(parameters(distribution=distribution)) == pytest.approx(mean_us)


@pytest.mark.parametrize("distribution", ["fixed", "trimodal", "lognormal"])
def test_means_are_those_that_are_asked_for(distribution: str) -> None:
    asked = parameters(distribution=distribution, mean_us=40, jitter_probability=0)
    assert service.mean_us(asked) == pytest.approx(40)


def test_a_trimodal_one_has_thirds() -> None:
    spec = service.spec_of(parameters(distribution="trimodal", mean_us=185))
    assert (spec["short_us"], spec["middle_us"], spec["long_us"]) == pytest.approx((5, 50, 500))


def test_the_artifacts_first_example_is_27_percent_of_the_capacity() -> None:
    example = parameters(servers=2, workers=1, target_rps=19_300)
    assert offered_load.load(example) == pytest.approx(0.275, abs=0.001)
    assert offered_load.capacity_rps(example) == pytest.approx(70_175, abs=1)


def test_targets_below_2000_work() -> None:
    few = parameters(target_rps=100, dilation=1)
    assert offered_load.sent_rps(few) == 100
    # 1000 requests, and five standard deviations.
    assert offered_load.measure_s(few) == pytest.approx(11.6)


@pytest.mark.parametrize(
    ("target_rps", "rate"),
    # Means of -ln(1 - u) by hand: u in [0, 1): 1; [0, 0.5): 1 - ln 2; [0, 0.1): 0.0517555.
    [(2000, 1000.0), (4000, 1000 / (1 - math.log(2))), (20_000, 1000 / 0.0517555)],
)
def test_windows_of_the_artifacts_process_are_longer(target_rps: float, rate: float) -> None:
    """It sends less than it is asked to, and the window still holds the requests."""
    legacy = parameters(
        arrivals="legacy", clients=3, target_rps=3 * target_rps, dilation=100, requests=10_000
    )
    assert offered_load.arriving_rps(legacy) == pytest.approx(3 * rate / 100, rel=1e-5)
    expected = 10_500 / (3 * rate / 100)
    assert expected <= offered_load.measure_s(legacy) < expected + 0.1


def test_dilation_changes_the_rate_and_not_the_load() -> None:
    slow, fast = parameters(dilation=100), parameters(dilation=1)
    assert offered_load.load(slow) == offered_load.load(fast) == 0.5
    assert offered_load.sent_rps(slow) * 100 == pytest.approx(offered_load.sent_rps(fast))


def test_unequal_servers_have_the_capacity_of_all_their_slots() -> None:
    unequal = parameters(servers=3, unequal_workers="8+4+4")
    assert offered_load.capacity_rps(unequal) == pytest.approx(16e6 / 28.5)


def test_means_of_redis_follow_the_mix() -> None:
    def mean_us(scan_share: float) -> float:
        asked = parameters(distribution="redis", scan_share=scan_share, jitter_probability=0)
        return service.mean_us(asked)

    assert 10 < mean_us(0) < 60 < mean_us(1)  # a SCAN reads 100 objects
    assert mean_us(0.1) == pytest.approx(0.9 * mean_us(0) + 0.1 * mean_us(1))
