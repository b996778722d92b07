"""The journal: durable lines, a torn tail, and what is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core import journal, selection
from turntable_core.errors import TurntableError
from turntable_core.journal import FAILED, OK, Attempt
from turntable_core.run_directory import RunDirectory
from turntable_core.spec import Scale

from .plans import make_plan


def attempt(
    iteration: int,
    number: int = 1,
    status: str = OK,
    cell: str = "c",
    round_: int = 0,
    **fields: object,
) -> Attempt:
    times = {"began_at_ns": 1, "ended_at_ns": 2}
    return Attempt(cell, round_, iteration, number, status, **times, **fields)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.ndjson"


def test_attempts_are_read_back_in_order(path: Path) -> None:
    for number in range(3):
        journal.append(path, attempt(number))
    assert journal.read(path) == [attempt(0), attempt(1), attempt(2)]


def test_no_file_is_no_attempt(path: Path) -> None:
    assert journal.read(path) == []


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_torn_tail_is_ignored_and_then_removed(path: Path, kept: int) -> None:
    journal.append(path, attempt(0))
    journal.append(path, attempt(1))
    whole = path.read_bytes()
    second = whole.index(b"\n") + 1
    path.write_bytes(whole[:second] + whole[second:][:kept])
    assert journal.read(path) == [attempt(0)]
    journal.append(path, attempt(2))
    assert journal.read(path) == [attempt(0), attempt(2)]


@pytest.mark.parametrize("damage", [b"not json\n", b'{"cell": "c"}\n', b"[]\n"])
def test_damage_before_the_last_line_is_an_error(path: Path, damage: bytes) -> None:
    journal.append(path, attempt(0))
    path.write_bytes(damage + path.read_bytes())
    with pytest.raises(TurntableError, match=r"journal\.ndjson:1: not an attempt"):
        journal.read(path)


def test_missing_is_what_has_no_successful_attempt(scale: Scale) -> None:
    plan = make_plan(scale)
    cell = plan.turns[0].cell.id
    attempts = [
        attempt(0, cell=cell),
        attempt(1, status=FAILED, cell=cell),
        attempt(2, 2, cell=cell, round_=1),
    ]
    left = [
        (turn.cell.id, turn.round, iteration.index)
        for turn, iteration in journal.missing(plan, attempts)
    ]
    assert len(left) == 16 - 2
    assert (cell, 0, 0) not in left
    assert (cell, 0, 1) in left
    assert (cell, 1, 2) not in left


def test_what_was_disturbed_and_not_yet_repeated_is_missing(scale: Scale) -> None:
    plan = make_plan(scale)
    cell = plan.turns[0].cell.id
    disturbed = {"disturbed": "stolen", "repeat": True}
    attempts = [
        attempt(0, cell=cell, **disturbed),  # the run was killed here, continued, …
        attempt(1, cell=cell, **disturbed),
        attempt(1, 2, cell=cell),
        attempt(2, cell=cell, **disturbed),
        attempt(2, 2, FAILED, cell=cell),  # … and killed again
        attempt(3, cell=cell, disturbed="stolen"),  # as often as `repeats` says
    ]
    left = journal.missing(plan, attempts)
    assert [iteration.index for turn, iteration in left if turn is plan.turns[0]] == [0, 2]
    assert len(left) == 16 - 2


@pytest.mark.parametrize(("repeats", "left"), [(0, 0), (1, 1), (2, 2)])
def test_no_more_repetitions_are_made_than_this_playbook_wants(
    scale: Scale, repeats: int, left: int
) -> None:
    plan = make_plan(replace(scale, rounds=1, factors={**scale.factors, "load": ["light"]}))
    cell = plan.turns[0].cell.id
    disturbed = {"cell": cell, "disturbed": "stolen", "repeat": True}
    attempts = [attempt(0, **disturbed), attempt(1, **disturbed), attempt(1, 2, **disturbed)]
    attempts += [attempt(index, cell=cell) for index in (2, 3)]
    assert len(journal.missing(plan, attempts, repeats)) == left
    assert len(selection.work(plan, attempts, None, repeats=repeats)) == left


def test_repetitions_are_counted_whichever_playbook_made_them() -> None:
    disturbed = {"disturbed": "stolen", "repeat": True}
    attempts = [attempt(0), attempt(0, 2, **disturbed), attempt(1), attempt(0, 3, FAILED)]
    assert journal.repetitions_due(attempts, ("c", 0, 0)) == 1
    assert journal.repetitions_due([*attempts, attempt(0, 4, **disturbed)], ("c", 0, 0)) == 2
    # Asked for by `only`: counted from there.
    assert journal.repetitions_due([*attempts, attempt(0, 4)], ("c", 0, 0)) == 0
    assert journal.repetitions_due([], ("c", 0, 0)) == 0


def test_repeats_are_in_vain_after_three_iterations_that_stayed_disturbed() -> None:
    disturbed = {"disturbed": "stolen"}
    attempts = [attempt(0, repeat=True, **disturbed), attempt(0, 2, **disturbed)]
    attempts += [attempt(1, **disturbed), attempt(2, **disturbed), attempt(2, 2)]
    assert not journal.are_repeats_in_vain(attempts, ("c", 0))
    assert not journal.are_repeats_in_vain(
        [*attempts, attempt(3, repeat=True, **disturbed)], ("c", 0)
    )
    attempts += [attempt(3, **disturbed)]
    assert journal.are_repeats_in_vain(attempts, ("c", 0))
    assert not journal.are_repeats_in_vain(attempts, ("c", 1))


def test_later_success_replaces_an_earlier_one() -> None:
    attempts = [attempt(0), attempt(0, 2, FAILED), attempt(0, 3)]
    assert journal.succeeded(attempts)["c", 0, 0].attempt == 3


def test_next_attempt_counts_files_of_a_killed_one(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    assert run.next_attempt("c", 0, 5) == 1
    journal.append(run.journal_file, attempt(5, number=1, status=FAILED))
    assert run.next_attempt("c", 0, 5) == 2
    (tmp_path / "raw/c/r0/i5/a2").mkdir(parents=True)
    assert run.next_attempt("c", 0, 5) == 3


def test_repeated_is_what_was_measured_more_than_once() -> None:
    attempts = [attempt(0), attempt(1, status=FAILED), attempt(1, 2), attempt(2), attempt(2, 2)]
    assert journal.repeated(attempts) == {("c", 0, 2)}
