"""What a run of FarReach will take and show before it: stores, and what the traces promise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core import estimate, preview, selection
from turntable_core.plan import Plan, Turn
from turntable_core.spec import Scale
from turntable_core.testbed import Testbed, read_testbed
from turntable_systems.farreach import stores
from turntable_systems.farreach.prediction import Prediction
from turntable_systems.farreach.workload import workload_of

from .plans import EVEN, make_plan
from .testbeds import GROUPS, hostvars

ASSUMED = estimate.Overhead(0.5, 0)


@pytest.fixture
def plan(scale: Scale) -> Plan:
    """Two workloads, two rounds, four servers; 100 keys per partition."""
    return make_plan(scale, Prediction(2, EVEN, EVEN, (100, 100, 100, 100)))


@pytest.fixture
def testbed(tmp_path: Path) -> Testbed:
    variables = hostvars()
    for name in GROUPS["servers"]:
        variables[name]["turntable_state_dir"] = str(tmp_path / "state" / name)
    return read_testbed(variables, GROUPS)


def write_store(testbed: Testbed, turn: Turn, host: int, partition: int, **more: str) -> None:
    """As src/farreach/kv/store_library.cc leaves one."""
    parameters = turn.cell.parameters
    spec = {
        "format": 1,
        "workload": workload_of(turn),
        "scale": parameters["servers"],
        "store_profile": parameters["store_profile"],
        **more,
    }
    server = testbed.hosts_of("servers")[host]
    digest = Path(server.state_dir) / "stores" / f"{turn.cell.id}{turn.round}"
    store = digest / f"p{partition}" / "base" / "store.json"
    store.parent.mkdir(parents=True)
    store.write_text('{"keys": 100}')
    (digest / "spec.json").write_text(json.dumps(spec))


def test_stores_that_lack_take_time_and_disk(plan: Plan, testbed: Testbed, tmp_path: Path) -> None:
    work = selection.work(plan, [], None)
    expected = estimate.estimate(plan, work, testbed, ASSUMED)
    # 4 turns of 4 iterations, each 1 s warm-up and 1 s window; 100 keys of 4 partitions per turn.
    assert (expected.iterations, expected.window_s, expected.turns) == (16, 32.0, 4)
    assert expected.total_s == pytest.approx(
        32 + 16 * 0.5 + estimate.START_S + 4 * estimate.TURN_S + 1600 / stores.KEYS_PER_S
    )
    needs = expected.preparation
    assert needs.what == "building stores: 4 of 4 lack some, 1,600 keys"
    assert needs.disk_bytes == 1600 * (128 + stores.BYTES_PER_KEY)
    assert needs.disk_on == tmp_path / "state"


def test_stores_that_are_there_are_not_built_again(plan: Plan, testbed: Testbed) -> None:
    write_store(testbed, plan.turns[0], 0, 2)
    write_store(testbed, plan.turns[0], 1, 3)
    needs = stores.preparation(plan.turns, testbed)
    assert needs.what == "building stores: 4 of 4 lack some, 1,400 keys"
    for partition in (0, 1):
        write_store(testbed, plan.turns[0], 1, partition)
    needs = stores.preparation(plan.turns, testbed)
    assert needs.what == "building stores: 3 of 4 lack some, 1,200 keys"


def test_methods_with_a_cache_share_their_stores(scale: Scale, testbed: Testbed) -> None:
    """Their records have numbers; those of NoCache have none."""
    methods = {"method": ["farreach", "netcache", "nocache"], "workload": ["workloada"]}
    shared = replace(scale, factors=scale.factors | methods, rounds=1)
    plan = make_plan(shared, Prediction(2, EVEN, EVEN, (100, 100, 100, 100)))
    needs = stores.preparation(plan.turns, testbed)
    assert needs.what == "building stores: 2 of 2 lack some, 800 keys"
    for partition in range(4):
        write_store(testbed, plan.turns[0], 0, partition, records="numbered")
    needs = stores.preparation(plan.turns, testbed)
    assert needs.what == "building stores: 1 of 2 lack some, 400 keys"


def test_preview_shows_what_the_traces_promise(
    plan: Plan, testbed: Testbed, tmp_path: Path
) -> None:
    work = selection.work(plan, [], "workload=workloadc,iteration=0")
    expected = estimate.estimate(plan, work, testbed, ASSUMED)
    text = preview.render(plan, work, "r1", expected, tmp_path / "results")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    first, last = plan.cells
    assert "cell workload method servers round iterations bottleneck norm. imb." in lines
    assert f"{first.id} workloada nocache 4 0 0 of 4 2 4.00 1.000" in lines
    assert f"{last.id} workloadc nocache 4 1 1 of 4 2 4.00 1.000" in lines
    assert any(line.startswith("disk 122 KB of new stores in ") for line in lines)
    assert max(map(len, text.splitlines())) < 100 + len(str(tmp_path))
