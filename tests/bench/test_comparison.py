"""Medians, ratios, verdicts and the table of `make bench`."""

from __future__ import annotations

import pytest

from turntable_bench.comparison import (
    OURS,
    YARDSTICK,
    Comparison,
    Gap,
    Limit,
    Outcome,
    Unit,
    alternate,
    alternate_all,
    repeat,
    table,
)

RATE = Comparison("rate", "plain", "soft", Unit.PAIRS_PER_S, goal=0.8)
COST = Comparison("cost", "ycsb", "kvclient", Unit.CPU_NS_PER_OP, goal=3)


def outcome(comparison: Comparison, yardstick: list[float], ours: list[float]) -> Outcome:
    return Outcome(comparison, {YARDSTICK: yardstick, OURS: ours})


def test_ratio_of_rates_is_of_medians() -> None:
    # Medians 100 and 90; the means would say otherwise.
    assert outcome(RATE, [100, 1, 5000], [90, 80, 1000]).ratio == pytest.approx(0.9)


def test_ratio_of_costs_is_how_much_cheaper_we_are() -> None:
    assert outcome(COST, [600, 200, 400], [100, 100, 100]).ratio == pytest.approx(4)


def test_even_number_of_runs() -> None:
    assert outcome(COST, [100, 200], [100, 100]).ratio == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("yardstick", "ours", "verdict"), [(300, 100, "met"), (299, 100, "not met")]
)
def test_verdict(yardstick: float, ours: float, verdict: str) -> None:
    assert outcome(COST, [yardstick], [ours]).verdict == verdict


def test_without_a_goal_nothing_is_met_or_missed() -> None:
    reported = Comparison("x", "a", "b", Unit.CPU_S)
    assert outcome(reported, [1], [2]).verdict == "reported"


def test_sides_alternate_and_take_turns_at_being_first() -> None:
    calls: list[str] = []

    def side(name: str, numbers: list[float]) -> float:
        calls.append(name)
        return numbers.pop(0)

    theirs, ours = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    measured = alternate(
        RATE, 3, {YARDSTICK: lambda: side("y", theirs), OURS: lambda: side("o", ours)}
    )
    assert calls == ["y", "o", "o", "y", "y", "o"]
    assert measured.runs == {YARDSTICK: [1, 2, 3], OURS: [4, 5, 6]}


@pytest.mark.parametrize("number", [0, -5, float("nan")])
def test_a_measurement_of_nothing_is_refused(number: float) -> None:
    with pytest.raises(RuntimeError, match="soft: measured"):
        alternate(RATE, 1, {YARDSTICK: lambda: 1, OURS: lambda: number})


def test_table() -> None:
    rows = [
        outcome(RATE, [200_000], [150_000]),
        outcome(Comparison("seconds", "java", "ours", Unit.CPU_S), [12.5], [5]),
        Gap("client", "mvn is missing", failed=False),
        Gap("server", "broke", failed=True),
    ]
    assert table(rows).splitlines() == [
        "         yardstick               ours                   ratio  goal",
        "-" * 79,
        "rate     plain: 200,000 pairs/s  soft: 150,000 pairs/s  0.75   >= 0.8  not met",
        "seconds  java: 12.50 s CPU       ours: 5.00 s CPU       2.50   -       reported",
        "client   -                       -                      -      -       not run",
        "server   -                       -                      -      -       FAILED",
    ]


def test_a_run_may_give_numbers_for_several_comparisons() -> None:
    rate, cost = alternate_all(
        [RATE, COST], 2, {YARDSTICK: lambda: (100.0, 6.0), OURS: lambda: (80.0, 2.0)}
    )
    assert (rate.ratio, cost.ratio) == (pytest.approx(0.8), pytest.approx(3))
    assert rate.runs == {YARDSTICK: [100, 100], OURS: [80, 80]}


@pytest.mark.parametrize(("seconds", "verdict"), [([29, 90, 30], "met"), ([31, 1, 90], "not met")])
def test_a_limit_is_for_the_median(seconds: list[float], verdict: str) -> None:
    numbers = iter(seconds)
    reading = repeat(Limit("compile", Unit.CPU_S, 30), 3, lambda: next(numbers))
    assert reading.verdict == verdict
    line = table([reading]).splitlines()[-1]
    assert "<= 30.00 s CPU" in line
    assert line.endswith(f"  {verdict}")
