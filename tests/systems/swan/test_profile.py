"""Repetitions of a field: centre, interval, resolved or not, what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from turntable.load import load_run
from turntable.systems.swan import capacity, tables
from turntable.systems.swan.intervals import Interval, Spread, ratio
from turntable.systems.swan.profile import Profile, profile_of
from turntable.systems.swan.rendering import GREEN, RED

from .made_run import Scripted, make_run
from .measured import histogram

FACTORS = (0.9, 1.0, 1.1)


def test_the_interval_is_that_of_the_logarithms() -> None:
    values = (812.0, 640.0, 1190.0, 905.0)
    spread, logs = Spread(values, 95), np.log(values)
    low, high = stats.t.interval(0.95, df=3, loc=logs.mean(), scale=stats.sem(logs))
    assert spread.centre == pytest.approx(stats.gmean(values))
    assert spread.interval is not None
    assert (spread.interval.low, spread.interval.high) == pytest.approx((np.exp(low), np.exp(high)))
    assert Spread(values, 50).interval.low > spread.interval.low


def test_two_repetitions_have_no_interval() -> None:
    assert Spread((1.0, 2.0), 95).interval is None
    assert ratio(Spread((1.0, 2.0), 95), Spread((1.0, 2.0, 3.0), 95)).is_clear is None


def test_the_ratio_has_welchs_interval() -> None:
    one, other = (100.0, 104.0, 97.0), (140.0, 121.0, 133.0, 150.0)
    found = ratio(Spread(one, 95), Spread(other, 95))
    expected = stats.ttest_ind(np.log(other), np.log(one), equal_var=False).confidence_interval()
    assert found.value == pytest.approx(stats.gmean(other) / stats.gmean(one))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(np.exp(expected)))
    assert found.is_clear
    assert ratio(Spread(one, 95), Spread((99.0, 105.0, 98.0), 95)).is_clear is False


def test_intervals_that_touch_overlap() -> None:
    assert Interval(1, 2).overlaps(Interval(2, 3)) and Interval(2, 3).overlaps(Interval(1, 2))
    assert not Interval(1, 2).overlaps(Interval(2.01, 3))
    assert Interval(1, 4).overlaps(Interval(2, 3))


# Percent of the SLO of 5,000 µs at loads 0.2, 0.5 and 1.0.
SHARES = {"Baseline": (30, 40, 90), "placebo": (31, 39, 92), "busy": (60, 80, 280)}


def scripted(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
    share = SHARES[data["aggressor"]][data["load_index"]]
    factor = FACTORS[(round_ + data["repeat"]) % 3]
    return Scripted(50 * share * factor, progress_per_s=100 * (1 + round_))


def profile(parent: Path, script: Any = scripted, **changes: Any) -> Profile:
    (cell,) = load_run(make_run(parent, script, **changes)).cells
    return profile_of(cell)


def test_rows_and_columns(tmp_path: Path) -> None:
    found = profile(tmp_path, aggressors=("busy", "placebo"))
    assert found.aggressors == ("Baseline", "placebo", "busy")
    assert found.loads == (0.2, 0.5, 1.0)
    assert [found.target_per_s(index) for index in found.indices] == [2_000, 5_000, 10_000]
    assert found.peak_per_s == 10_000


def test_a_round_has_one_value(tmp_path: Path) -> None:
    """The three rows of the baseline in a round are 0.9, 1 and 1.1 times 1,500 µs in some order."""
    found = profile(tmp_path)
    baseline, busy = found.fields["Baseline", 0], found.fields["busy", 0]
    assert [len(field.counted) for field in (baseline, busy)] == [9, 3]
    assert busy.sli is not None and baseline.sli is not None
    # 60 % of 5,000 µs, times 0.9, 1 and 1.1.
    assert sorted(busy.sli.values) == pytest.approx([2_700, 3_000, 3_300], rel=2e-3)
    assert busy.sli_us == pytest.approx(3_000, rel=2e-3)
    assert busy.worst_us == pytest.approx(3_300, rel=2e-3)
    assert busy.sli.centre == pytest.approx(3_000 * 0.99 ** (1 / 3), rel=2e-3)
    assert busy.sli.median == pytest.approx(3_000, rel=2e-3)
    assert baseline.sli.values == pytest.approx([1_500 * 0.99 ** (1 / 3)] * 3, rel=2e-3)
    assert busy.from_send is not None
    assert busy.from_send.median == pytest.approx(1_500, rel=2e-3)


def test_progress_is_the_mean_of_the_repetitions(tmp_path: Path) -> None:
    found = profile(tmp_path)
    assert found.fields["busy", 0].progress_per_s == 200
    assert found.fields["busy", 0].unit == "bogo ops"
    assert found.fields["Baseline", 0].progress_per_s is None


def test_what_overlaps_the_baseline_is_not_resolved(tmp_path: Path) -> None:
    found = profile(tmp_path)
    resolved = {
        name: [found.is_resolved(field) for field in found.row(name)] for name in found.aggressors
    }
    assert resolved == {
        "Baseline": [None] * 3,
        "placebo": [False] * 3,
        "busy": [True] * 3,
    }


def test_a_server_that_is_now_quick_and_now_overloaded_is_resolved(tmp_path: Path) -> None:
    """Its interval, of 1, 8 and 400 times 4 ms, begins below the baseline's highest row."""

    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        if data["aggressor"] != "busy":
            return Scripted(1000 * FACTORS[(round_ + data["repeat"]) % 3])
        last = 900 if data["load_index"] == 2 else 1_600_000  # at the highest load below a row
        return Scripted((4_000, 32_000, last)[round_])

    found = profile(tmp_path, script)
    fields = found.row("busy")
    baseline = found.fields["Baseline", 0].sli
    assert baseline is not None and baseline.interval is not None
    for field in fields:
        assert field.sli is not None and field.sli.interval is not None
        assert field.sli.interval.overlaps(baseline.interval)
    assert [found.is_resolved(field) for field in fields] == [True, True, False]


def beside_busy(parent: Path, *latencies_us: float) -> Profile:
    """latencies_us: of `busy` in each round; the others take 1 ms."""

    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        return Scripted(latencies_us[round_] if data["aggressor"] == "busy" else 1_000)

    return profile(parent, script)


def test_one_bad_round_is_not_averaged_away(tmp_path: Path) -> None:
    """The SLO is 5 ms. The geometric mean of 0.4, 0.4 and 60 ms is 2.1 ms, their mean 20.3 ms."""
    found = beside_busy(tmp_path, 400, 400, 60_000)
    looks = [tables.latency_look(found)(field) for field in found.row("busy")]
    assert [(look.text, look.background) for look in looks] == [("≈>300%", RED)] * 3
    held = capacity.capacity(found, "busy")
    assert held is not None and held.load == 0


def test_a_mean_that_holds_says_that_a_round_did_not(tmp_path: Path) -> None:
    """(4 + 4 + 6.5) / 3 = 4.83 ms: 97 % of the SLO."""
    found = beside_busy(tmp_path, 4_000, 4_000, 6_500)
    looks = [tables.latency_look(found)(field) for field in found.row("busy")]
    assert [(look.text, look.background) for look in looks] == [("97%!", GREEN)] * 3
    (table,) = capacity.capacity_tables([found])
    assert {row["aggressor"]: row["load"] for row in table.rows}["busy"] == "1.00!"


def test_with_two_rounds_nothing_is_said_of_it(tmp_path: Path) -> None:
    found = profile(tmp_path, rounds=2)
    assert found.is_resolved(found.fields["busy", 0]) is None
    assert found.fields["Baseline", 0].sli.interval is None  # of 2 rounds, with 3 repeats each


def test_an_iteration_that_breaks_a_rule_is_left_out_alone(tmp_path: Path) -> None:
    """The second round's generator was late beside one aggressor at one load."""

    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        good = scripted(parameters, data, round_)
        if (data["aggressor"], data["load_index"], round_) != ("busy", 1, 1):
            return good
        late = {"send_late_ns": histogram({600: 100})}
        return Scripted(10 * good.p99_us, client=late)

    run = load_run(make_run(tmp_path, script))
    found = profile_of(run.cells[0])
    busy = found.fields["busy", 1]
    assert (len(busy.counted), busy.left_out) == (2, 1)
    assert busy.sli is not None and max(busy.sli.values) < 50 * 80 * 1.15
    assert [field.left_out for field in found.row("placebo")] == [0, 0, 0]
    assert [turn.valid for turn in run.turns] == [True, False, True]
    assert "requests were sent late" in run.turns[1].reasons[0]
    assert "in 1 of 15 iterations" in run.turns[1].reasons[0]
    assert run.turns[1].row["left_out"] == 1


def test_what_nobody_measured_is_missing(tmp_path: Path) -> None:
    found = profile(tmp_path, leave_out=lambda data: data["aggressor"] == "busy")
    field = found.fields["busy", 2]
    assert (field.sli, field.achieved_share, field.fails) == (None, None, False)
    assert found.aggressors == ("Baseline", "placebo", "busy")
