"""`--check`: what a run will take, and what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core import estimate, journal, preview, selection
from turntable_core import plan as plans
from turntable_core.spec import Scale
from turntable_core.testbed import Testbed, read_testbed
from turntable_core.workload import workload_of

from .test_components import GROUPS, hostvars
from .test_plan import EVEN, make_plan

ASSUMED = estimate.Overhead(0.5, 0)


@pytest.fixture
def plan(scale: Scale) -> plans.Plan:
    """Two workloads, two rounds, four servers; 100 keys per partition."""
    made = make_plan(scale)
    keys = plans.Prediction(2, EVEN, EVEN, (100, 100, 100, 100))
    return replace(made, turns=tuple(replace(turn, prediction=keys) for turn in made.turns))


@pytest.fixture
def testbed(tmp_path: Path) -> Testbed:
    variables = hostvars()
    for name in GROUPS["servers"]:
        variables[name]["turntable_state_dir"] = str(tmp_path / "state" / name)
    return read_testbed(variables, GROUPS)


def write_store(testbed: Testbed, turn: plans.Turn, host: int, partition: int) -> None:
    """As src/kv/store_library.cc leaves one."""
    parameters = turn.cell.parameters
    spec = {
        "format": 1,
        "workload": workload_of(parameters, turn.round),
        "scale": parameters["servers"],
        "store_profile": parameters["store_profile"],
    }
    digest = Path(testbed.servers[host].state_dir) / "stores" / f"{turn.cell.id}{turn.round}"
    store = digest / f"p{partition}" / "base" / "store.json"
    store.parent.mkdir(parents=True)
    store.write_text('{"keys": 100}')
    (digest / "spec.json").write_text(json.dumps(spec))


def test_time_is_windows_overhead_stores_and_setup(plan: plans.Plan, testbed: Testbed) -> None:
    work = selection.work(plan, [], None)
    expected = estimate.estimate(work, testbed, ASSUMED)
    # 4 turns of 4 iterations, each 1 s warm-up and 1 s window; 100 keys of 4 partitions per turn.
    assert (expected.iterations, expected.window_s, expected.turns) == (16, 32.0, 4)
    assert expected.keys_to_load == 1600
    assert expected.total_s == pytest.approx(
        32 + 16 * 0.5 + estimate.START_S + 4 * estimate.TURN_S + 1600 / estimate.KEYS_PER_S
    )
    assert expected.store_bytes == 1600 * (128 + estimate.BYTES_PER_KEY)


def test_stores_that_are_there_are_not_built_again(plan: plans.Plan, testbed: Testbed) -> None:
    write_store(testbed, plan.turns[0], 0, 2)
    write_store(testbed, plan.turns[0], 1, 3)
    expected = estimate.estimate(selection.work(plan, [], None), testbed, ASSUMED)
    assert (expected.keys_to_load, expected.turns_to_load) == (1400, 4)


def test_nothing_to_measure_takes_nothing(testbed: Testbed) -> None:
    assert estimate.estimate([], testbed, ASSUMED).total_s == 0


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


def test_preview_shows_turns_and_costs(plan: plans.Plan, testbed: Testbed, tmp_path: Path) -> None:
    work = selection.work(plan, [], "workload=workloadc,iteration=0")
    expected = estimate.estimate(work, testbed, ASSUMED)
    text = preview.render(plan, work, "r1", expected, testbed, tmp_path / "results")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "run r1: 2 cell(s) x 2 round(s), 2 of 16 iterations to measure" in lines
    first, last = plan.cells
    assert f"{first.id} workloada nocache 4 0 2 0 of 4 4.00 1.000" in lines
    assert f"{last.id} workloadc nocache 4 1 2 1 of 4 4.00 1.000" in lines
    assert "0:01 0.50 s per iteration, assumed: no earlier run" in lines
    assert any("of raw files in" in line and "free there" in line for line in lines)
    assert max(map(len, text.splitlines())) < 100 + len(str(tmp_path))
    assert not (tmp_path / "results").exists()
