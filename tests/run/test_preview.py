"""`--check`: what a run will take, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core import estimate, journal, preview, selection, timeline
from turntable_core import plan as plans
from turntable_core.spec import Scale
from turntable_core.system import Preparation
from turntable_core.testbed import Testbed, read_testbed

from .plans import make_plan
from .recorded import record, write_run
from .testbeds import GROUPS, hostvars

ASSUMED = estimate.Overhead(0.5, 0)


@pytest.fixture
def plan(scale: Scale) -> plans.Plan:
    """Two loads, two rounds, four stations."""
    return make_plan(scale)


@pytest.fixture
def testbed() -> Testbed:
    return read_testbed(hostvars(), GROUPS)


def test_time_is_windows_overhead_preparation_and_setup(plan: plans.Plan, testbed: Testbed) -> None:
    work = selection.work(plan, [], None)
    expected = estimate.estimate(plan, work, testbed, ASSUMED)
    # 4 turns of 4 iterations, each 1 s warm-up and 1 s window.
    assert (expected.iterations, expected.window_s, expected.turns) == (16, 32.0, 4)
    assert expected.preparation.seconds == 4 * 2.5
    assert expected.total_s == pytest.approx(
        32 + 16 * 0.5 + 4 * 2.5 + estimate.START_S + 4 * estimate.TURN_S
    )
    assert expected.preparation.disk_bytes == 4 * 4_000


def test_nothing_to_measure_takes_nothing(plan: plans.Plan, testbed: Testbed) -> None:
    assert estimate.estimate(plan, [], testbed, ASSUMED).total_s == 0


def test_earlier_runs_tell_the_overhead(tmp_path: Path) -> None:
    assert estimate.overhead_of_earlier_runs(tmp_path) == estimate.Overhead(estimate.OVERHEAD_S, 0)
    for name, overheads in (("a", (0.2, 0.4)), ("b", (0.5,))):
        path = tmp_path / "tiny" / name / "journal.ndjson"
        path.parent.mkdir(parents=True)
        for iteration, overhead_s in enumerate(overheads):
            times = {"began_at_ns": 0, "ended_at_ns": 1, "overhead_s": overhead_s}
            journal.append(path, journal.Attempt("c", 0, iteration, 1, journal.OK, **times))
    overhead = estimate.overhead_of_earlier_runs(tmp_path)
    assert overhead.runs == 2
    assert overhead.seconds == pytest.approx((0.3 + 0.5) / 2)


def test_runs_that_restart_nodes_tell_nothing_of_others(plan: plans.Plan, tmp_path: Path) -> None:
    kinds = {
        "quiet": ([], 0.25),
        "impaired": ([{"at_s": 1, "heal": "sender0"}], 0.75),
        "killed": ([{"at_s": 1, "kill": "sender0"}], 9.0),
    }
    for name, (events, overhead_s) in kinds.items():
        run = write_run(tmp_path / "tiny" / name, replace(plan, timeline=timeline.read(events)))
        record(run, plan.turns[0], plan.turns[0].iterations[0], overhead_s=overhead_s)
    overhead = estimate.overhead_of_earlier_runs(tmp_path)
    assert overhead == estimate.Overhead(0.5, 2)


@pytest.mark.parametrize("shared", [True, False])
def test_preview_adds_up_what_one_disk_has_to_hold(
    plan: plans.Plan,
    testbed: Testbed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shared: bool,
) -> None:
    monkeypatch.setattr(estimate, "free_bytes", lambda _: 9_000)
    monkeypatch.setattr(estimate, "disk_of", lambda path: 0 if shared else path.name)
    work = selection.work(plan, [], "load=heavy,iteration=0")
    needs = Preparation(disk_bytes=30_000, disk_of="stores", disk_on=tmp_path / "state")
    expected = replace(estimate.estimate(plan, work, testbed, ASSUMED), preparation=needs)
    text = preview.render(plan, work, "r1", expected, tmp_path / "results")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    # Raw files of two iterations, 20 KB each.
    together = "70 KB together, on one disk, 9 KB free there"
    assert (together in lines) is shared


def test_preview_shows_turns_and_costs(plan: plans.Plan, testbed: Testbed, tmp_path: Path) -> None:
    work = selection.work(plan, [], "load=heavy,iteration=0")
    expected = estimate.estimate(plan, work, testbed, ASSUMED)
    text = preview.render(plan, work, "r1", expected, tmp_path / "results")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "run r1: 2 cell(s) x 2 round(s), 2 of 16 iterations to measure" in lines
    first, last = plan.cells
    assert "cell load method stations round iterations busiest" in lines
    assert f"{first.id} light plain 4 0 0 of 4 2" in lines
    assert f"{last.id} heavy plain 4 1 1 of 4 2" in lines
    assert "(busiest: the station that is)" in lines
    assert "0:01 0.50 s per iteration, assumed: no earlier run" in lines
    assert "0:05 baking for 2 turn(s)" in lines
    assert any(line.startswith("disk 8 KB of bread") for line in lines)
    assert any(line.startswith("memory 7 KB for dough, ") for line in lines)
    assert any("of raw files in" in line and "free there" in line for line in lines)
    assert max(map(len, text.splitlines())) < 100 + len(str(tmp_path))
    assert not (tmp_path / "results").exists()
