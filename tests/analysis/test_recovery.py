"""Recoveries of a recorded run: in summary, verdict, table and report."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turntable.load import load_run
from turntable.report import render
from turntable.results import EXPERIMENTS
from turntable.summarize import summarize_directory
from turntable_core.reference import Reference

from . import recordings
from .test_report import Page

# By hand from server0.recover.json of both iterations: records and seconds of `replay`, `restore`.
REPLAYED = (1396 + 2731, 0.014638813 + 0.021071683)
RESTORED = (2 * 10_000, 0.016480575 + 0.020286415)
ALL_PHASES_S = (0.276306324 + 0.323355738) / 2


@pytest.fixture
def recovery(tmp_path: Path) -> Path:
    return recordings.copy_run(tmp_path, recordings.RECOVERY)


def edit_second_recovery(run: Path, edit: Callable[[list[dict[str, Any]]], object]) -> None:
    """Of iteration 1: what the controller answered, and what the journal says of that file."""
    (path,) = run.glob("raw/*/r0/i1/a1/server0.recover.json")
    recordings.edit_json(path, lambda document: edit(document["answers"]))
    lines = recordings.journal(run)
    lines[1]["files"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    recordings.write_journal(run, lines)


def verdict(run: Path) -> str:
    (row,) = load_run(run).rows
    return row["verdict"]


def test_a_row_says_how_long_recoveries_took_and_how_fast_records_were_replayed(
    recovery: Path,
) -> None:
    (row,) = load_run(recovery).rows
    assert row["verdict"] == "valid"
    assert row["recovery_s"] == pytest.approx(ALL_PHASES_S)
    assert row["server_replay_s"] == pytest.approx(REPLAYED[1] / 2)
    assert row["switch_replay_s"] == pytest.approx(RESTORED[1] / 2)
    assert row["server_replay_records_per_s"] == pytest.approx(REPLAYED[0] / REPLAYED[1])
    assert row["switch_replay_records_per_s"] == pytest.approx(RESTORED[0] / RESTORED[1])


def test_records_that_a_recovery_left_out_make_the_round_invalid(recovery: Path) -> None:
    edit_second_recovery(recovery, lambda answers: answers[1]["result"].update(newer=3))
    assert "iteration 1: 3 records at clients were still newer" in verdict(recovery)


def test_a_recovery_that_does_not_know_what_was_left_out_makes_the_round_invalid(
    recovery: Path,
) -> None:
    edit_second_recovery(
        recovery, lambda answers: answers[1]["result"].update(newer=None, missed=None)
    )
    assert "iteration 1: a server was asked twice" in verdict(recovery)


def test_keys_that_the_switch_did_not_get_make_the_round_invalid(recovery: Path) -> None:
    edit_second_recovery(recovery, lambda answers: answers[0]["result"].update(restored=9_999))
    assert "iteration 1: the switch got 9999 of 10000 keys" in verdict(recovery)


@pytest.mark.parametrize("which", [0, 1])
def test_other_keys_in_the_switch_make_the_round_invalid(recovery: Path, which: int) -> None:
    edit_second_recovery(recovery, lambda answers: answers[which]["result"].update(digest="0" * 16))
    assert "iteration 1: the switch got other keys" in verdict(recovery)


def test_a_crash_without_a_recovery_makes_the_round_invalid(recovery: Path) -> None:
    edit_second_recovery(recovery, lambda answers: answers.clear())
    assert "not recovered after iteration 1: there is no answer" in verdict(recovery)
    (row,) = load_run(recovery).rows
    assert row["switch_replay_s"] == pytest.approx(0.016480575)  # of the other one


def test_the_table_and_the_report_show_phases_and_rates_beside_the_published(
    recovery: Path,
) -> None:
    reference = recovery / "reference.csv"
    reference.write_text(
        "servers,cache_size,metric,value\n"
        "2,10000,server_replay_s,0.0095\n2,10000,switch_replay_s,0.333\n"
    )
    recordings.edit_json(recovery / "plan.json", lambda plan: plan.update(reference=str(reference)))
    lines = summarize_directory(recovery).table.splitlines()
    (row,) = (line.split() for line in lines if line.startswith("10,000 keys"))
    # collect ... restore, all; records/s; 10,000 records in 0.333 s.
    assert row[2:] == [
        "2", "3.0", "17.9", "221.0", "39.6", "18.4", "299.8", "115,568", "543,966", "30,030",
    ]  # fmt: skip
    (row,) = (row for row in Page(load_run(recovery)).rows if "543,966" in row)
    assert row[1:] == [
        "2", "3.0", "17.9", "221.0", "39.6", "18.4", "299.8",
        "2,064", "115,568", "9.50", "10,000", "543,966", "333.0",
    ]  # fmt: skip


def test_what_was_published_is_known_for_the_published_parameters() -> None:
    parameters = {
        "method": "farreach", "workload": "synthetic", "servers": 16, "records": 100_000_000,
        "theta": 0.99, "value_bytes": 128, "cache_size": 1000,
    }  # fmt: skip
    reference = Reference(EXPERIMENTS / "reference" / "farreach_exp09_recovery.csv")
    assert reference.value("switch_replay_s", parameters) == 0.034  # FarReach reference §9, exp 9
    assert reference.value("switch_replay_s", parameters | {"servers": 32}) is None


def test_other_runs_have_none(tmp_path: Path) -> None:
    run = recordings.copy_run(tmp_path)
    assert "Recover" not in render(load_run(run))
    assert "Recover" not in summarize_directory(run).table
