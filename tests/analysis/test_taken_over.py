"""A round that another experiment's run has measured: what tables and the report say of it."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from turntable.analyze import rebuild
from turntable.load import judged, load_run
from turntable_core import selection, sharing
from turntable_core.manifest import read_manifest
from turntable_core.run_directory import RunDirectory
from turntable_core.sharing import Search

from . import recordings

MADE_WITH = ("connections", "binaries", "p4_programs", "p4_sources", "code", "machine", "packages")


@pytest.fixture
def first(tmp_path: Path) -> RunDirectory:
    run = RunDirectory(
        shutil.copytree(recordings.RECORDED / recordings.RUN, tmp_path / "one/night")
    )
    facts = {name: {"any": "1"} for name in MADE_WITH}
    recordings.edit_json(run.manifest_file, lambda manifest: manifest.update(facts))
    return run


@pytest.fixture
def second(first: RunDirectory, tmp_path: Path) -> RunDirectory:
    """Another experiment with the same cell, nothing of it measured."""
    run = RunDirectory(tmp_path / "two/night")
    run.path.mkdir(parents=True)
    for file in (first.plan_file, first.manifest_file):
        shutil.copy(file, run.path)
    recordings.edit_json(run.plan_file, lambda plan: plan.update(experiment="two"))
    return run


def search(run: RunDirectory) -> Search:
    plan = run.plan()
    work = selection.work(plan, run.attempts(), None)

    def judge(other: RunDirectory, turn: object) -> str | None:
        return "; ".join(judged(other, plan, turn).reasons) or None

    return sharing.search(run, plan, read_manifest(run), work, judge)


def test_tables_and_report_say_who_measured_it(first: RunDirectory, second: RunDirectory) -> None:
    sharing.take(second, search(second).found)
    there, here = (rebuild(run.path) for run in (first, second))
    sentence = "Measured by one/night, not here: workloada nocache 4 servers"
    assert sentence in here
    assert sentence not in there
    page = (second.path / "report.html").read_text(encoding="utf-8")
    assert sentence in page.replace(" · ", " ")
    rows = [
        next(csv.DictReader((run.path / "summary.csv").read_text().splitlines()))
        for run in (first, second)
    ]
    assert [row.pop("taken_from") for row in rows] == ["", "one/night"]
    assert [row.pop("experiment") for row in rows] == ["farreach_exp01_throughput", "two"]
    assert rows[0] == rows[1]


def test_the_rules_of_the_taker_decide(second: RunDirectory) -> None:
    recordings.edit_json(second.plan_file, lambda p: p["validity"].update(rate_difference_max=0))
    ((name, why),) = search(second).refused
    assert name == "one"
    assert why.endswith("(at most 0)")


def test_a_damaged_file_is_measured_again(first: RunDirectory, second: RunDirectory) -> None:
    path = next(first.path.glob("raw/*/r0/i2/a1/client0.json"))
    path.write_text(path.read_text() + " ")
    ((_, why),) = search(second).refused
    assert f"{path.relative_to(first.path)}: not what the journal recorded" in why


def test_a_file_that_is_damaged_later_is_a_gap(first: RunDirectory, second: RunDirectory) -> None:
    sharing.take(second, search(second).found)
    shutil.rmtree(first.path)  # what was taken over does not need it
    assert load_run(second.path).turns[0].valid
    next(second.path.glob("raw/*/r0/i2/a1/client0.json")).unlink()
    (turn,) = load_run(second.path).turns
    assert not turn.valid
