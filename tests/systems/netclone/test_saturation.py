"""Chance does not saturate a cell of few requests, and many requests hide no saturation: the
statement on simulations whose load is known.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from turntable_core import saturation
from turntable_systems.netclone import prediction

from .conftest import REPOSITORY, parameters

PROGRAM = REPOSITORY / "build/bin/netclone-simulate"
MINIMAL = {"servers": 2, "workers": 1, "clients": 1, "load": 0.27}


@cache
def simulator() -> prediction.Simulator:
    if not PROGRAM.exists():
        pytest.skip(f"there is no {PROGRAM}: run `make build` first")
    return prediction.Simulator(PROGRAM, 60.0, lambda: None)


def saturated(monkeypatch: pytest.MonkeyPatch, requests: int, rounds: int, **cell: Any) -> int:
    """Of so many rounds, each with draws of its own."""
    monkeypatch.setattr(prediction, "REQUESTS", requests)
    asked = parameters(servers=4, workers=8) | cell
    return sum(simulator().predict(asked, round_).saturated for round_ in range(rounds))


@pytest.mark.parametrize("method", ["noclone", "netclone"])
def test_few_requests_grow_by_chance(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """At a quarter of the capacity nothing is saturated."""
    assert saturated(monkeypatch, 500, 20, **MINIMAL, method=method) == 0


@pytest.mark.parametrize(
    ("method", "load"), [("noclone", 1.05), ("cclone", 0.55), ("netclone", 1.05)]
)
def test_many_requests_hide_no_saturation(
    monkeypatch: pytest.MonkeyPatch, method: str, load: float
) -> None:
    assert saturated(monkeypatch, 100_000, 2, method=method, load=load) == 2


def test_growth_alone_tells_at_100_000_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that are too late are too few to tell."""
    monkeypatch.setattr(saturation, "_LATE_SHARE", 1.0)
    assert saturated(monkeypatch, 100_000, 2, method="noclone", load=1.05) == 2


def half(slow_us: float, count: int = 50_000, mean: float = 1.0) -> saturation.Half:
    """Latencies of 1 us, but the largest 1.5 % of slow_us."""
    return saturation.Half(count, mean, lambda percent: slow_us if percent > 98.5 else 1.0)


def test_p99_of_a_usual_half_is_between_the_98_6th_and_the_99_4th_percentile() -> None:
    """3 standard errors of 5,000 independent ones: 3 * sqrt(0.99 * 0.01 / 5,000) = 0.42 %."""
    asked: list[float] = []

    def percentile(percent: float) -> float:
        asked.append(percent)
        return 1.0

    saturation.grows(*(saturation.Half(50_000, mean, percentile) for mean in (1.0, 2.0)))
    assert sorted(asked) == pytest.approx([98.578, 99.422], abs=0.001)


def test_growth_needs_p99_and_mean() -> None:
    assert saturation.grows(half(10), half(12.1, mean=1.6))
    assert not saturation.grows(half(10), half(11.9, mean=1.6))
    assert not saturation.grows(half(10), half(12.1, mean=1.5))


def test_what_is_never_answered_is_later_than_all_answers() -> None:
    """C-Clone at 0.9 of a load that it half serves: the second half's answers end when the clients
    do, so that its p99 is only 1.13 times the first's."""
    assert saturation.grows(half(10, 51_127, mean=3.57), half(11.3, 8_594, mean=6.01))


def test_a_link_that_loses_saturates_nothing() -> None:
    assert not saturation.grows(half(10, 50_000), half(10, 8_594, mean=1.2))


def test_of_a_few_requests_nothing_is_surely_above_p99() -> None:
    assert not saturation.grows(half(10, 8_900), half(1000, 50_000, mean=100))
    assert saturation.grows(half(10, 8_920), half(1000, 50_000, mean=100))


def test_what_is_under_way_at_the_end_is_not_late() -> None:
    """Little: 45 of 2000, as many when the window begins, each give or take 3 * sqrt(45)."""
    assert not saturation.is_late(68, 2_000, under_way=45)
    assert saturation.is_late(69, 2_000, under_way=45)
    assert saturation.is_late(2_029, 100_000, under_way=45)
    assert not saturation.is_late(2_028, 100_000, under_way=45)
