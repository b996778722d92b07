"""Which measurements are made again: those that the machine spoiled, and no others."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from turntable.analyze import rebuild
from turntable.load import disturbance, read_measurement
from turntable_core.run_directory import RunDirectory

from . import recordings


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return recordings.copy_run(tmp_path, recordings.ROUNDS)


def bound(run: Path, **bounds: Any) -> None:
    recordings.edit_json(run / "plan.json", lambda plan: plan["validity"].update(bounds))


def first_disturbance(run: Path) -> str | None:
    directory = RunDirectory(run)
    attempt = directory.attempts()[0]
    plan = directory.plan()
    turn = plan.turn(attempt.cell, attempt.round)
    return disturbance(directory, plan, turn, read_measurement(directory, plan, turn, attempt))


def test_what_was_recorded_on_a_quiet_machine_is_not_measured_again(run: Path) -> None:
    assert first_disturbance(run) is None


def test_a_starved_thread_disturbs(tmp_path: Path) -> None:
    run = recordings.copy_run(tmp_path, recordings.RECOVERY)  # has what threads waited
    assert first_disturbance(run) is None
    bound(run, wait_share_max=-1)
    reason = first_disturbance(run)
    assert reason is not None
    assert "waited for a processor (share of the time)" in reason
    assert "in 1 of 1 iterations" in reason


def test_what_the_method_may_be_blamed_for_does_not(run: Path) -> None:
    bound(run, rate_difference_max=0, loss_share_max=-1)
    assert first_disturbance(run) is None


def test_servers_that_were_not_at_their_capacity_are_measured_again(run: Path) -> None:
    bound(run, busiest_utilization=[2, 3])
    assert "the servers were not the bottleneck" in str(first_disturbance(run))


def test_what_was_measured_twice_is_counted_and_the_newest_counts(run: Path) -> None:
    first, *others = recordings.journal(run)
    again = json.loads(json.dumps(first)) | {"attempt": 2, "disturbed": None}
    (run / "raw" / first["cell"] / f"r{first['round']}" / "i0" / "a1").rename(
        run / "raw" / first["cell"] / f"r{first['round']}" / "i0" / "a2"
    )
    recordings.write_journal(run, [first | {"disturbed": "steal"}, again, *others])
    rebuild(run)
    with (run / "summary.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["iterations_repeated"] for row in rows] == ["1", "0", "0", "0", "0", "0"]
    assert rows[0]["iterations_ok"] == "4"  # although the files of the first attempt are gone
    assert "4 of 4, 1 measured again" in (run / "report.html").read_text()
