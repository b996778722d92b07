"""What workload-analyze says, read for a method."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turntable_core import wait_notice
from turntable_core.errors import PhaseError
from turntable_systems.farreach import analyzer
from turntable_systems.farreach.analyzer import WorkloadAnalyzer
from turntable_systems.farreach.prediction import WriteThrough

# Two servers: of all requests 0.7 and 0.3; those for cached keys are 0.5 and 0.1 of all.
PART = {
    "bottleneck": 0,
    "shares": [0.7, 0.3],
    "uncached": {"normalized": 1 / 0.7, "imbalance": 0.7 / 0.3},
    "cached": {"shares": [0.2, 0.2], "normalized": 5.0, "imbalance": 1.0},
}
DOCUMENT = {
    "proportions": {"read": 0.5, "update": 0.5, "insert": 0, "scan": 0, "read_modify_write": 0},
    "scales": [PART | {"trace": PART | {"partitions": [{"distinct_keys": 1}] * 2}}],
}
PARAMETERS = {
    "workload": "workloada", "servers": 2, "records": 1, "theta": 0.9, "value_bytes": 1,
    "cache_size": 1, "clients": 1, "operations": 1, "seed": 1, "capacity_ops_per_s": 1000,
    "warmup_s": 0.5, "ramp_share": 0.5, "measure_s": 2,
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "shares", "normalized"),
    [
        ("nocache", (0.7, 0.3), 1 / 0.7),
        ("farreach", (0.2, 0.2), 5.0),
        ("netcache", (0.45, 0.25), 1 / 0.45),  # half of the requests are reads
    ],
)
def test_what_a_switch_absorbs(
    tmp_path: Path, method: str, shares: tuple[float, ...], normalized: float
) -> None:
    program = tmp_path / "analyze"
    (tmp_path / "answer.json").write_text(json.dumps(DOCUMENT))
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/answer.json\n")
    program.chmod(0o755)
    made = WorkloadAnalyzer(program, 10.0).predict(PARAMETERS | {"method": method}, 0)
    assert made.trace.shares == pytest.approx(shares)
    assert made.infinite.normalized == pytest.approx(normalized)
    assert made.requests == (0.7, 0.3)


@pytest.mark.parametrize("method", ["farreach", "netcache"])
def test_values_that_no_slot_holds_are_planned_as_without_a_cache(
    tmp_path: Path, method: str
) -> None:
    program = tmp_path / "analyze"
    (tmp_path / "answer.json").write_text(json.dumps(DOCUMENT))
    program.write_text(f"#!/bin/sh\necho $@ >> {tmp_path}/asked; cat {tmp_path}/answer.json\n")
    program.chmod(0o755)
    analyzers = WorkloadAnalyzer(program, 10.0)
    plain, fits, large = (
        analyzers.predict(PARAMETERS | {"method": m, "value_bytes": size}, 0)
        for m, size in (("nocache", 256), (method, 128), (method, 129))
    )
    assert large == plain
    assert fits != plain
    *_, asked = (tmp_path / "asked").read_text().splitlines()
    assert "--window" not in asked  # nor are there value updates to be modelled


def test_a_write_through_cache_is_modelled_for_the_window_that_is_measured(tmp_path: Path) -> None:
    trace = DOCUMENT["scales"][0]["trace"] | {
        "write_through": [{"update_round_trip": 0.5, "placements": [[0.1, 0.9, 0, 0]] * 2}]
    }
    answer = DOCUMENT | {"scales": [PART | {"trace": trace}]}
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    program = tmp_path / "analyze"
    program.write_text(f"#!/bin/sh\necho $@ >> {tmp_path}/asked; cat {tmp_path}/answer.json\n")
    program.chmod(0o755)
    models = WorkloadAnalyzer(program, 10.0)
    made = models.predict(PARAMETERS | {"method": "netcache"}, 0)
    assert made.write_through == (WriteThrough(0.5, ((0.1, 0.9, 0, 0),) * 2),)
    models.predict(PARAMETERS | {"method": "netcache", "workload": "workload-load"}, 0)
    models.predict(PARAMETERS | {"method": "farreach"}, 0)
    models.predict(PARAMETERS | {"method": "netcache", "capacity_ops_per_s": 0}, 0)
    asked = (tmp_path / "asked").read_text().splitlines()
    # One client: a ramp over half of what 0.5 s have beyond 2 / 1000 s.
    assert "--warmup 500.0 --window 2000 --ramp 249.0 --pieces 8" in asked[0]
    assert "--pieces 1 " in asked[1]  # its keys are inserted in the traces' order
    # What has no model asks the same whatever its method, once.
    assert ["--window" in line for line in asked] == [True, True, False]


def test_inserts_are_of_keys_that_are_not_cached(tmp_path: Path) -> None:
    # workloadd: all requests for cached keys are reads, so the switch answers them all.
    proportions = {"read": 0.95, "update": 0, "insert": 0.05, "scan": 0, "read_modify_write": 0}
    (tmp_path / "answer.json").write_text(json.dumps(DOCUMENT | {"proportions": proportions}))
    program = tmp_path / "analyze"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/answer.json\n")
    program.chmod(0o755)
    made = WorkloadAnalyzer(program, 10.0).predict(PARAMETERS | {"method": "netcache"}, 0)
    assert made.trace.shares == pytest.approx((0.2, 0.2))


def test_a_cache_that_nobody_asks_for_may_be_larger_than_the_key_space(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(DOCUMENT))
    program = tmp_path / "analyze"
    program.write_text(f"#!/bin/sh\necho $@ > {tmp_path}/asked; cat {tmp_path}/answer.json\n")
    program.chmod(0o755)
    parameters = PARAMETERS | {"method": "nocache", "cache_size": 10_000, "records": 1000}
    WorkloadAnalyzer(program, 10.0).predict(parameters, 0)
    assert "--cached 1000 " in (tmp_path / "asked").read_text()


def test_a_long_count_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(DOCUMENT))
    program = tmp_path / "analyze"
    until_said = f"until [ -e {tmp_path}/said ]; do sleep 0.02; done"
    program.write_text(f"#!/bin/sh\n{until_said}\ncat {tmp_path}/answer.json\n")
    program.chmod(0o755)
    lines: list[str] = []

    class Shown:
        def display(self, line: str) -> None:
            lines.append(line)
            (tmp_path / "said").touch()

    monkeypatch.setattr(wait_notice, "_display", Shown())
    monkeypatch.setattr(wait_notice, "_PLANNING_SHOWN_AFTER_S", 0.1)
    monkeypatch.setattr(analyzer, "_TICK_S", 0.05)
    notice = wait_notice.PlanningNotice(24)
    made = WorkloadAnalyzer(program, 60.0, notice.show_if_due)
    made.predict(PARAMETERS | {"method": "farreach"}, 0)
    assert lines[0].startswith("planning: 0 of 24 turns in ")


def test_a_count_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    program = tmp_path / "analyze"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    with pytest.raises(
        PhaseError,
        match=r"no answer within 0\.2 s; .*busy.* run the same command again.*analyze --workload",
    ):
        WorkloadAnalyzer(program, 0.2).predict(PARAMETERS | {"method": "farreach"}, 0)
