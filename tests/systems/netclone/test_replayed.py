"""How far rounds are off the replay of their own draws, and when that is too far."""

from __future__ import annotations

from dataclasses import replace
from math import log
from pathlib import Path

import pytest

from turntable.histograms import Merged
from turntable.load import load_run
from turntable.report import page
from turntable.systems.netclone import replayed

from .conftest import parameters
from .made_run import make_run
from .measured import CLIENTS, healthy, histogram, with_clients
from .test_summary import row


def exponential(requests: int, mean_us: float = 25.0, scale: float = 1.0) -> Merged:
    """By its quantiles: p50 0.69, p99 4.6, p99.9 6.9 means."""
    steps = 10_000
    values = [-log(1 - (i + 0.5) / steps) * mean_us * scale for i in range(steps)]
    return Merged(tuple(values), (requests / steps,) * steps)


def bimodal(above: int, requests: int = 100_000, slow_us: float = 750.0) -> Merged:
    """bimodal50: 50 and 500 us; of `above` requests the jitter makes 750 us."""
    return Merged((50.0, 500.0, slow_us), (requests * 0.9, requests * 0.1 - above, above))


def off(measured: Merged, replay: Merged, distribution: str = "exp25") -> dict:
    return replayed.compared(measured, replay, parameters(distribution=distribution), CLIENTS)


def test_a_tenth_is_allowed() -> None:
    replay = exponential(100_000)
    found = off(exponential(100_000, scale=1.09), replay)
    assert found["off_replay"] == "within"
    assert (found["off_mean"], found["off_p50"]) == pytest.approx((0.09, 0.09))
    assert off(exponential(100_000, scale=0.91), replay)["off_replay"] == "within"
    assert off(exponential(100_000, scale=0.89), replay)["off_replay"] == "mean p50 p99"


def test_of_a_hundred_requests_chance_is_allowed_beside() -> None:
    """Of 100,000 are 100 above p99.9, give or take 30: it lies between the percentiles 99.87 and
    99.93, of an exponential distribution 6.65 and 7.26 means: 4 % less and 5 % more than 6.91.
    """
    replay = exponential(100_000)
    assert off(exponential(100_000, scale=1.14), replay)["off_replay"] == "mean p50 p99"
    assert off(exponential(100_000, scale=1.17), replay)["off_replay"] == "mean p50 p99 p99.9"
    assert off(exponential(100_000, scale=0.84), replay)["off_replay"] == "mean p50 p99 p99.9"
    # Of so many requests p99.9 is known as well as the others.
    many = exponential(10_000_000)
    assert off(exponential(10_000_000, scale=1.11), many)["off_replay"] == "mean p50 p99 p99.9"


def test_few_requests_decide_little() -> None:
    """Of 1000 are 10 above p99, give or take 9.4, and 500 above p50, give or take 47."""
    replay = exponential(1000)
    measured = off(exponential(1000, scale=1.24), replay)
    assert measured["off_replay"] == "mean"  # of the same draws, so it has no chance
    assert measured["off_p99"] == pytest.approx(0.24)
    assert off(exponential(1000, scale=1.28), replay)["off_replay"] == "mean p50"


def test_where_p99_jumps_the_tail_is_compared() -> None:
    """0.98 % above and 1.05 %: p99 is 500 us and 750 us, and nothing is wrong."""
    found = off(bimodal(1050), bimodal(980), "bimodal50")
    assert found["off_replay"] == "within"
    assert found["off_p99"] is None
    assert found["off_tail"] == pytest.approx(1050 / 980 - 1)
    assert off(bimodal(1110), bimodal(980), "bimodal50")["off_replay"] == "tail"
    assert off(bimodal(870), bimodal(980), "bimodal50")["off_replay"] == "tail"


def test_where_it_does_not_jump_p99_is() -> None:
    found = off(bimodal(2500), bimodal(2000), "bimodal50")
    assert found["off_replay"] == "within"
    assert (found["off_p99"], found["off_tail"]) == (0.0, None)
    assert off(bimodal(2000, slow_us=830), bimodal(2000), "bimodal50")["off_replay"] == "p99 p99.9"
    # An exponential distribution has no two values to jump between.
    assert off(bimodal(1050), bimodal(980))["off_replay"] == "p99"


def test_the_summary_compares_steady_rounds() -> None:
    found = row(healthy())
    assert found["off_replay"] == "within"
    assert found["off_mean"] == found["off_p50"] == found["off_p99"] == 0
    late = with_clients(latency=(histogram({6_000: 1000}),))
    assert row(late)["off_p50"] == pytest.approx(1.0, rel=0.001)
    assert "p50" in row(late)["off_replay"]
    assert row(replace(late, replay=None))["off_replay"] is None
    saturated = with_clients(latency=(histogram({6_000: 1000}),), delivered=500)
    assert row(saturated)["off_replay"] is None
    assert row(None)["off_replay"] is None


def test_credits_that_are_taken_too_long_are_outside_though_the_replay_has_them() -> None:
    """A path of 120 us, of which half is a credit's, and a mean of 2,500 us: those of exp25, times
    100, without jitter.
    """

    def with_credit(delay_us: float | None) -> dict:
        measured = with_clients(latency=(histogram({30 * 100: 1000}),), credit_delay_us=delay_us)
        same = replace(healthy().replay, latency_ns=histogram({30 * 100: 1000}))
        return row(replace(measured, replay=same), jitter_probability=0.0, dilation=100)

    assert with_credit(None)["off_credit"] is None
    assert with_credit(60.0)["off_credit"] == pytest.approx(0)
    assert with_credit(60.0 + 2_560 * 0.049)["off_replay"] == "within"
    late = with_credit(60.0 + 2_560 * 0.051)
    assert late["off_credit"] == pytest.approx(0.051)
    assert late["off_replay"] == "credit"
    assert late["off_mean"] == pytest.approx(0)


def test_the_report_says_which_rounds_are_outside(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path, distribution=["exp25"], load=[0.3, 0.9]))
    rows = [turn.row for turn in run.turns]
    assert replayed.finding(rows).holds is True
    assert replayed.finding([row | {"off_replay": None} for row in rows]).holds is None
    rows[0] |= {"off_replay": "p50 p99", "off_p50": 0.123, "off_p99": -0.2}
    found = replayed.finding(rows)
    assert found.holds is False
    assert found.details == ("noclone, exp25 at load 0.3: p50 +12%, p99 -20%",)
    html = page.render(run)
    assert "every steady round is within 10 % of the replay of its own draws" in html
    assert "noclone, exp25 at load 0.3: p50 +12%" in html
    (table,) = replayed.table(run.cells)
    steady = [turn for turn in run.turns if turn.row["off_replay"]]
    assert len(table.rows) == len(steady) == 2 * 5 - 1  # cclone at 0.9 is saturated
