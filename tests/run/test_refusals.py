"""What a testbed cannot do: recorded once, never tried again, and no fault of the rest."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import turntable.systems
from turntable import load_run, precision
from turntable.overview.parts import _state
from turntable.report import render
from turntable.results import NOT_AVAILABLE
from turntable.summarize import summarize_run
from turntable_core import catalogue, journal, selection, terminal_lines
from turntable_core.doctor import runs
from turntable_core.errors import UNSUPPORTED, PhaseError
from turntable_core.plan import Plan, Turn
from turntable_core.run_directory import RunDirectory
from turntable_core.spec import Scale

from .plans import make_plan
from .recorded import record, record_failure, write_run
from .test_analysis import measure, record_attempt

REASON = "host server0: this machine has no such thing; leave these cells out"
REFUSAL = {
    "status": journal.FAILED,
    "failure_class": UNSUPPORTED,
    "message": REASON,
    "max_attempts": 3,
}
REFUSED = {"status": journal.REFUSED, "failure_class": UNSUPPORTED, "message": REASON}


@pytest.fixture(autouse=True)
def _analysis_of_the_fake_system(monkeypatch: pytest.MonkeyPatch) -> None:
    directory = Path(__file__).parent / "fakes" / "analysis"
    monkeypatch.setattr(turntable.systems, "__path__", [str(directory)])


@pytest.fixture
def plan(scale: Scale) -> Plan:
    """Two cells, two rounds, four iterations."""
    return make_plan(scale)


@pytest.fixture
def run(tmp_path: Path, plan: Plan) -> RunDirectory:
    return write_run(tmp_path / "results" / "tiny" / "r1", plan)


def refuse(run: RunDirectory, turn: Turn, count: int = 4) -> None:
    for iteration in turn.iterations[:count]:
        record(run, turn, iteration, **REFUSED)


def of_cell(plan: Plan, index: int) -> list[Turn]:
    cells = list(dict.fromkeys(turn.cell.id for turn in plan.turns))
    return [turn for turn in plan.turns if turn.cell.id == cells[index]]


@pytest.fixture
def half(run: RunDirectory, plan: Plan) -> RunDirectory:
    """The first cell was refused in its first round, and the second one measured."""
    refused, measured = of_cell(plan, 0), of_cell(plan, 1)
    refuse(run, refused[0])
    assert ask_turn(run, refused[1])["needed"] is False
    for turn in measured:
        for index in range(4):
            measure(run, turn, index, [[10, 5], [10, 5]])
    return run


def perform(name: str, run: RunDirectory, turn: Turn, **arguments: object) -> dict[str, Any]:
    """What the action of this name returns."""
    file = Path(__file__).parents[2] / "plugins" / "action" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    action = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(action)
    at = {"run": str(run.path), "cell": turn.cell.id, "round": turn.round}
    return action.ActionModule.perform(None, {"at": at, **arguments}, {})


def ask_turn(run: RunDirectory, turn: Turn, only: str | None = None) -> dict[str, Any]:
    return perform("ask_turn", run, turn, only=only)


def refuse_turn(
    run: RunDirectory, turn: Turn, failure_class: str = UNSUPPORTED, **others: object
) -> dict[str, Any]:
    """Of a turn whose configuration failed with REASON."""
    arguments = {"earlier_attempts": 0, "repeats": 0, "only": None} | others
    failed = {"msg": REASON, "failure_class": failure_class}
    return perform("refuse_turn", run, turn, failure=failed, **arguments)


def test_a_refusal_is_recorded_with_its_reason_and_not_tried_again(
    run: RunDirectory, plan: Plan
) -> None:
    result = record_attempt(run, plan.turns[0], **REFUSAL)
    assert (result["refused"], result["again"]) == (True, False)
    assert (result["afresh"], result["heal"]) == (False, False)
    (attempt,) = run.attempts()
    assert (attempt.status, attempt.failure_class) == ("refused", "unsupported")
    assert attempt.message == REASON
    assert len(selection.work(plan, run.attempts(), None)) == 16 - 1
    chosen = selection.work(plan, run.attempts(), "iteration=0,round=0")
    assert (plan.turns[0], plan.turns[0].iterations[0]) in chosen


def test_an_ordinary_failure_is_tried_again(run: RunDirectory, plan: Plan) -> None:
    result = record_attempt(run, plan.turns[0], **REFUSAL | {"failure_class": "timeout"})
    assert (result["refused"], result["again"], result["afresh"]) == (False, True, True)


def test_refusals_do_not_end_a_run_and_do_not_hide_failures(run: RunDirectory, plan: Plan) -> None:
    """Four failures in a row end it."""
    first, second = plan.turns[0], plan.turns[1]
    refuse(run, first)
    refuse(run, second)
    failed = REFUSAL | {"failure_class": "timeout"}
    record_attempt(run, plan.turns[2], **REFUSAL)
    for iteration in plan.turns[3].iterations[:3]:
        record_failure(run, plan.turns[3], iteration)
        record(run, plan.turns[2], plan.turns[2].iterations[1], **REFUSED)
    with pytest.raises(PhaseError, match="4 attempts in a row failed"):
        record_attempt(run, plan.turns[3], **failed)


def test_other_rounds_of_a_refused_cell_are_left_out_and_told_once(
    run: RunDirectory, plan: Plan
) -> None:
    first, second = of_cell(plan, 0)
    refuse(run, first, count=3)
    assert ask_turn(run, second)["needed"] is True  # one iteration may be possible
    refuse(run, first)
    asked = ask_turn(run, second)
    assert asked["needed"] is False
    assert asked["report"].endswith(f"round 1 and later ones are left out: not available: {REASON}")
    assert ask_turn(run, second) == {"changed": False, "needed": False}
    assert ask_turn(run, second, only="round=1")["needed"] is True
    assert all(ask_turn(run, turn)["needed"] for turn in of_cell(plan, 1))
    assert len(selection.work(plan, run.attempts(), None, run.skipped())) == 8


def test_what_could_be_done_after_all_is_needed_again(half: RunDirectory, plan: Plan) -> None:
    first, second = of_cell(plan, 0)
    assert precision.still_skipped(half) == {(second.cell.id, 1)}
    for index in range(4):  # as with -e only=...
        measure(half, first, index, [[10, 5]])
    assert journal.refused(half.attempts()) == {}
    assert precision.still_skipped(half) == set()


def test_a_refusal_after_a_success_leaves_the_success(run: RunDirectory, plan: Plan) -> None:
    turn = plan.turns[0]
    measure(run, turn, 0, [[10, 5]])
    refuse(run, turn, count=1)
    assert journal.refused(run.attempts()) == {}


def test_a_turn_that_cannot_be_configured_is_refused_as_a_whole(
    run: RunDirectory, plan: Plan
) -> None:
    first, second = of_cell(plan, 0)
    result = refuse_turn(run, first)
    assert (result["needed"], result["afresh"]) == (False, True)
    assert [attempt.key[2] for attempt in run.attempts()] == [0, 1, 2, 3]
    for attempt in run.attempts():
        assert (attempt.status, attempt.failure_class) == ("refused", "unsupported")
        assert (attempt.message, attempt.attempt) == (REASON, 1)
    assert result["progress"]["result"]["verdict"] == f"not available: {REASON}"
    assert ask_turn(run, second)["needed"] is False
    assert all(ask_turn(run, turn)["needed"] for turn in of_cell(plan, 1))


def test_a_turn_that_cannot_be_configured_again_keeps_what_was_measured(
    run: RunDirectory, plan: Plan
) -> None:
    """Nodes are started afresh after a failure, and configured again."""
    turn = plan.turns[-1]
    for other in plan.turns[:-1]:
        refuse(run, other)
    measure(run, turn, 0, [[10, 5]])
    record_failure(run, turn, turn.iterations[1])
    result = refuse_turn(run, turn)
    assert result["afresh"] is False  # nothing comes after it
    own = [attempt for attempt in run.attempts() if attempt.key[:2] == (turn.cell.id, turn.round)]
    assert [(attempt.key[2], attempt.status) for attempt in own] == [
        (0, "ok"), (1, "failed"), (1, "refused"), (2, "refused"), (3, "refused"),
    ]  # fmt: skip
    assert journal.missing(plan, run.attempts()) == []


def test_only_what_the_play_is_to_measure_is_refused(run: RunDirectory, plan: Plan) -> None:
    turn = plan.turns[0]
    measure(run, turn, 0, [[10, 5]])
    refuse_turn(run, turn, earlier_attempts=1)
    assert [attempt.key[2] for attempt in run.attempts()[1:]] == [1, 2, 3]
    again = refuse_turn(run, turn, earlier_attempts=4, only="round=0,iteration=2")
    assert [attempt.key[2] for attempt in run.attempts()[4:]] == [2]
    assert again["needed"] is False


def test_any_other_failure_to_configure_goes_on(run: RunDirectory, plan: Plan) -> None:
    result = refuse_turn(run, plan.turns[0], failure_class="timeout")
    assert (result["failed"], result["failure_class"], result["msg"]) == (True, "timeout", REASON)
    assert run.attempts() == []


def test_a_refused_cell_is_neither_failed_nor_zero(half: RunDirectory, plan: Plan) -> None:
    loaded = load_run(half.path)
    cell, other = loaded.cells
    (turn,) = cell.turns
    assert turn.row["verdict"] == f"not available: {REASON}"
    assert (turn.row["iterations_ok"], turn.row["iterations_failed"]) == (0, 0)
    assert turn.row["answered_per_s"] is None
    assert (turn.state, cell.gap, cell.not_available) == (NOT_AVAILABLE, NOT_AVAILABLE, REASON)
    assert not turn.valid and other.gap is None
    summary = summarize_run(loaded)
    assert summary.valid
    (line,) = (each for each in summary.table.splitlines() if each.endswith(" not available"))
    assert " - " in line
    assert f"not available: {REASON}" in " ".join(summary.table.split())
    assert _state(loaded) == ("valid", "")


def test_the_report_says_what_is_not_available(half: RunDirectory) -> None:
    page = render(load_run(half.path))
    assert "<h2>Valid</h2>" in page
    assert "held in all 8 iterations" in page
    assert f"</b> not available: {REASON}" in page
    assert "Not available on this testbed" in page
    assert "<td>not available</td>" in page
    assert "Failed attempts</h3>" not in page


def test_a_run_of_which_nothing_is_available_is_not_valid(run: RunDirectory, plan: Plan) -> None:
    for index in (0, 1):
        refuse(run, of_cell(plan, index)[0])
        ask_turn(run, of_cell(plan, index)[1])
    loaded = load_run(run.path)
    assert not summarize_run(loaded).valid
    assert "<h2>Not available</h2>" in render(loaded)
    assert _state(loaded) == (NOT_AVAILABLE, REASON)


def test_a_round_of_which_a_part_is_not_available_is_incomplete(
    tmp_path: Path, scale: Scale
) -> None:
    plan = make_plan(replace(scale, rounds=1, factors={**scale.factors, "load": ["light"]}))
    run = write_run(tmp_path / "results" / "tiny" / "r2", plan)
    (turn,) = plan.turns
    measure(run, turn, 0, [[10, 5]])
    measure(run, turn, 1, [[10, 5]])
    record(run, turn, turn.iterations[3], **REFUSED)
    (result,) = load_run(run.path).turns
    assert result.reasons[:2] == (
        "1 of 4 iterations are missing",
        f"1 of 4 iterations are not available: {REASON}",
    )


def test_a_round_refused_after_another_was_measured_is_invalid_and_says_why(
    run: RunDirectory, plan: Plan
) -> None:
    """A machine that loses in the middle of a run what it had."""
    first, second = of_cell(plan, 0)
    for turn in (first, *of_cell(plan, 1)):
        for index in range(4):
            measure(run, turn, index, [[10, 5], [10, 5]])
    refuse(run, second)
    why = f"4 of 4 iterations were refused, though others of the cell were measured: {REASON}"
    loaded = load_run(run.path)
    (result,) = (
        each for each in loaded.turns if each.turn.cell.id == second.cell.id and each.round
    )
    assert (result.state, result.not_available, result.reasons[0]) == ("invalid", None, why)
    assert result.row["answered_per_s"] is None
    summary = summarize_run(loaded)
    assert not summary.valid  # which ends the play with an error
    assert f"round 1: invalid: {why}" in summary.reasons
    assert f"round 1: invalid: {why}" in " ".join(summary.table.split())
    page = render(loaded)
    assert "<h2>Invalid in part</h2>" in page
    assert "3 of 4 rounds (of all cells) are valid; 12 of 16 iterations were measured" in page
    assert f"round 1:</b> {why}" in page


def test_later_rounds_are_tried_where_an_earlier_one_was_measured(
    tmp_path: Path, scale: Scale
) -> None:
    plan = make_plan(replace(scale, rounds=3))
    run = write_run(tmp_path / "results" / "tiny" / "r3", plan)
    first, second, third = of_cell(plan, 0)
    measure(run, first, 0, [[10, 5]])
    refuse(run, second)
    assert ask_turn(run, third)["needed"] is True
    assert journal.reason_of_cell(plan, run.attempts(), first.cell.id) is None


def test_lists_and_doctor_say_why(half: RunDirectory) -> None:
    summarize_run(load_run(half.path))
    repository = half.path.parents[2]
    state = catalogue.state_of(half.path, repository)
    assert (state.done, state.total, state.refused) == (8, 8, 4)
    assert (state.verdict, state.why_refused) == ("1 not available, 2 valid", REASON)
    finding = list(runs.findings(half.path.parents[1], half.path))[-1]
    assert finding.text.endswith(f": 8 of 12 iterations measured, 4 not available ({REASON})")
    assert finding.level == "ok"


def test_the_line_of_a_refused_attempt_says_why(run: RunDirectory, plan: Plan) -> None:
    progress: Mapping[str, Any] = record_attempt(run, plan.turns[0], **REFUSAL)["progress"]
    assert progress["status"] == "refused"
    assert progress["done"] == 1  # needs no further attempt
    assert terminal_lines.attempt(progress, 200).endswith(f"not available: {REASON}")
    assert len(terminal_lines.attempt(progress, 60)) < 60
