"""Runs that would take hours or fill the disk are refused until that is meant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core import estimate, long_runs, plan, plan_limits
from turntable_core.errors import TurntableError
from turntable_core.spec import Scale
from turntable_core.system import Preparation

NONE = estimate.Overhead(0.0, 0)


def check(scale: Scale, rounds: int) -> None:
    system = scale.experiment.system
    long_runs.check_before_planning(system, plan.cells_of(scale), rounds, NONE)


def test_a_run_of_less_than_an_hour_is_planned(scale: Scale) -> None:
    # 2 cells, 4 iterations of 2 s, and 1 s per turn: 18 s a round.
    check(scale, rounds=199)


def test_a_run_of_hours_is_refused_before_it_is_planned(scale: Scale) -> None:
    with pytest.raises(TurntableError, match=r"about 1:00:04.*at most 1:00:00; .*-e long=true"):
        check(scale, rounds=200)


def test_planning_counts_too(scale: Scale, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(type(scale.experiment.system), "planning_s", lambda *_: 4000)
    # Two turns on two processors, and one round of 18 s, and the start.
    with pytest.raises(TurntableError, match=r"about 1:07:02, 1:06:40 of it to be planned"):
        check(scale, rounds=1)


@pytest.mark.parametrize(("question_s", "deadline_s"), [(0, 600), (4.5, 600), (144, 5760)])
def test_planning_may_take_its_time(
    scale: Scale, monkeypatch: pytest.MonkeyPatch, question_s: float, deadline_s: float
) -> None:
    system = scale.experiment.system
    monkeypatch.setattr(type(system), "planning_s", lambda *_: question_s)
    assert plan_limits.planning_deadline_s(system, plan.cells_of(scale)) == deadline_s


EXPECTED = estimate.Estimate(1, 1.0, NONE, 1, Preparation(), raw_bytes=1000)


def test_what_fits_the_disk_and_the_hour_is_fine(tmp_path: Path) -> None:
    long_runs.check_plan(EXPECTED, tmp_path)


@pytest.mark.parametrize("where", ["results", "state"])
def test_a_full_disk_is_told_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    free = {tmp_path / "results": 2_000, tmp_path / "state": 2_000, tmp_path / where: 500}
    monkeypatch.setattr(estimate, "free_bytes", free.__getitem__)
    monkeypatch.setattr(estimate, "disk_of", str)  # each has one of its own
    needs = Preparation(disk_bytes=1_000, disk_of="stores", disk_on=tmp_path / "state")
    with pytest.raises(TurntableError, match=rf"/{where}: this run would write about 1 KB, 500 B"):
        long_runs.check_plan(replace(EXPECTED, preparation=needs), tmp_path / "results")


def test_what_one_disk_has_to_hold_is_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "free_bytes", lambda _: 1_900)
    needs = Preparation(disk_bytes=1_000, disk_of="stores", disk_on=tmp_path / "state")
    expected = r"/results and .*/state: this run would write about 2 KB, 2 KB are free"
    with pytest.raises(TurntableError, match=expected):
        long_runs.check_plan(replace(EXPECTED, preparation=needs), tmp_path / "results")


def test_what_is_left_of_a_run_may_be_long_too(tmp_path: Path) -> None:
    with pytest.raises(TurntableError, match=r"about 1:23:2\d; expected at most 1:00:00"):
        long_runs.check_plan(replace(EXPECTED, window_s=5000.0), tmp_path)
