"""`make list`: what it says of experiments, testbeds and runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from turntable_core import catalogue
from turntable_core.doctor import runs
from turntable_core.ownership import run_claim
from turntable_core.ownership.owner import new_owner
from turntable_core.run_directory import RunDirectory
from turntable_core.spec import Scale

from .conftest import REPOSITORY
from .plans import make_plan
from .recorded import record, record_failure, write_run


@pytest.fixture
def repository(experiments: Path) -> Path:
    shutil.copytree(REPOSITORY / "inventories" / "embedded", experiments.parent / "inventories/own")
    return experiments.parent


@pytest.fixture
def run(repository: Path, scale: Scale) -> RunDirectory:
    run = write_run(repository / "results" / "tiny" / "r1", make_plan(scale))
    turn = run.plan().turns[0]
    record(run, turn, turn.iterations[0])
    record(run, turn, turn.iterations[0])
    record_failure(run, turn, turn.iterations[1])
    return run


def lines(repository: Path) -> list[str]:
    return [" ".join(line.split()) for line in catalogue.render(repository).splitlines()]


def test_experiments_are_listed_with_their_profiles(repository: Path) -> None:
    # 2 cells x 2 rounds x 4 stations x (1 s warm-up + 1 s + 0.4 s) + 4 turns + 4 s to start: 0:46.
    listed = lines(repository)
    assert "tests/tiny A small experiment" in listed
    assert any(
        line.startswith("smoke 2 cells x 2 rounds, 16 iterations, about 0:46") for line in listed
    )


def test_a_profile_that_cannot_be_used_says_why(repository: Path) -> None:
    assert any("measure_s is missing" in line for line in lines(repository))


def test_testbeds_are_listed(repository: Path) -> None:
    assert any(line.startswith("own ") for line in lines(repository))


def test_runs_are_listed_with_how_to_continue_them(repository: Path, run: RunDirectory) -> None:
    listed = lines(repository)
    (row,) = (line for line in listed if line.startswith("tiny r1"))
    assert row == "tiny r1 smoke 1/16 -"
    assert listed[-1].endswith("-e run=r1")


def test_a_run_that_is_alive_is_not_to_be_continued(repository: Path, run: RunDirectory) -> None:
    owner = new_owner("r1", "tiny")
    run_claim.claim(run.path, owner)
    told = [line for line in lines(repository) if "unfinished;" in line or "run=r1" in line]
    assert told == []
    (finding,) = (each for each in runs.findings(run.path.parents[1], run.path)
                  if each.topic == "newest run")  # fmt: skip
    assert finding.text.endswith(f"1 attempts failed; it runs: playbook {owner.pid}")
    assert finding.command == ""


def test_what_is_to_be_measured_again_is_not_done(repository: Path, run: RunDirectory) -> None:
    turn = run.plan().turns[0]
    record(run, turn, turn.iterations[0], disturbed="stolen", repeat=True)
    assert any(line.startswith("tiny r1 smoke") and "0/16" in line for line in lines(repository))


def test_what_the_testbed_cannot_do_is_listed_with_its_reason(
    repository: Path, run: RunDirectory
) -> None:
    turn = run.plan().turns[1]
    for iteration in turn.iterations:
        record(run, turn, iteration, status="refused", message="no such thing")
    listed = lines(repository)
    assert "tiny r1 smoke 1/12 -" in listed
    assert listed[listed.index("not available:") + 1] == "tiny/r1: 4 iterations: no such thing"


def test_verdicts_are_counted(repository: Path, run: RunDirectory) -> None:
    text = "verdict\nvalid\ninvalid: x\nvalid\n"
    (run.path / "summary.csv").write_text(text)
    assert any(line.endswith("1/16 1 invalid, 2 valid") for line in lines(repository))


def test_damaged_runs_do_not_stop_the_list(repository: Path, run: RunDirectory) -> None:
    (run.path / "plan.json").write_text("{")
    (run.path / "journal.ndjson").write_bytes(b'{"torn\nxx\n[1]\n')
    assert any(line.startswith("tiny r1 ? 0/0") for line in lines(repository))
