"""Cells that another experiment's run of the same name has measured."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core import files, journal, selection, sharing
from turntable_core.plan import Plan, Turn
from turntable_core.run_directory import RunDirectory
from turntable_core.sharing import Found, Search
from turntable_core.spec import Scale
from turntable_core.timeline import Event

from .plans import make_plan

MANIFEST = {
    "testbed": "t",
    "inventory_digest": "1",
    "fidelity_class": "emulated",
    "connections": {"host0": "netns"},
    "binaries": {"bin/server": "2", "bin/client": "3"},
    "p4_programs": {},
    "p4_sources": {"p4/a.p4": "4"},
    "code": {"core": "5"},
    "machine": {"kernel": "6"},
    "packages": {"gcc-12": "7"},
    "extra_vars": {"turntable_lease_s": 3, "run": "night"},
}


@pytest.fixture
def plan(scale: Scale) -> Plan:
    return make_plan(replace(scale, rounds=2))


@pytest.fixture
def first(tmp_path: Path, plan: Plan) -> RunDirectory:
    """Another experiment's, complete."""
    run = RunDirectory(tmp_path / "first" / "night")
    run.create(plan, MANIFEST)
    for turn in plan.turns:
        measure(run, turn)
    return run


@pytest.fixture
def second(tmp_path: Path, plan: Plan) -> RunDirectory:
    run = RunDirectory(tmp_path / "second" / "night")
    run.create(plan, MANIFEST)
    return run


def measure(run: RunDirectory, turn: Turn, *indexes: int, **fields: object) -> None:
    """Iterations of a turn, or all, each with a raw file."""
    for index in indexes or range(len(turn.iterations)):
        key = (turn.cell.id, turn.round, index)
        number = run.next_attempt(*key)
        path = run.path / journal.attempt_directory(*key, number) / "host0.json"
        digest = files.write_once(path, f'{{"of": "{key}, {number}"}}'.encode())
        values = {"status": journal.OK, "began_at_ns": 5, "ended_at_ns": 9} | fields
        attempt = journal.Attempt(*key, number, files={path.name: digest}, **values)
        journal.append(run.journal_file, attempt)


def searched(
    run: RunDirectory, plan: Plan, judge: sharing.Judge = lambda run, turn: None, **manifest: object
) -> Search:
    work = selection.work(plan, run.attempts(), None)
    return sharing.search(run, plan, MANIFEST | manifest, work, judge)


def test_everything_that_another_experiment_has_is_taken_over(
    first: RunDirectory, second: RunDirectory, plan: Plan
) -> None:
    search = searched(second, plan)
    assert len(search.found) == len(plan.turns)
    assert search.rest(selection.work(plan, [], None)) == []
    sharing.take(second, search.found)
    assert journal.missing(plan, second.attempts()) == []
    for taken, measured in zip(second.attempts(), first.attempts(), strict=True):
        assert taken.taken_from == f"first/night/{measured.directory}"
        assert replace(taken, taken_from=None) == measured
        for name, digest in taken.files.items():
            assert files.digest_of_file(second.path / taken.directory / name) == digest
    assert searched(second, plan) == Search()  # and not twice


def test_a_taker_is_a_source_too_and_names_who_measured(
    tmp_path: Path, first: RunDirectory, second: RunDirectory, plan: Plan
) -> None:
    sharing.take(second, searched(second, plan).found)
    (first.path / "plan.json").unlink()
    third = RunDirectory(tmp_path / "third" / "night")
    third.create(plan, MANIFEST)
    sharing.take(third, searched(third, plan).found)
    origins = [attempt.taken_from for attempt in third.attempts()]
    assert origins == [attempt.taken_from for attempt in second.attempts()]


def test_runs_of_other_names_are_no_source(tmp_path: Path, first: RunDirectory, plan: Plan) -> None:
    other = RunDirectory(tmp_path / "second" / "day")
    other.create(plan, MANIFEST)
    assert searched(other, plan) == Search()


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        ({"binaries": {"bin/server": "2", "bin/client": "x"}}, "program bin/client differs"),
        ({"binaries": {"bin/server": "2"}}, "program bin/client differs"),
        ({"p4_sources": {"p4/a.p4": "x"}}, "P4 source p4/a.p4 differs"),
        ({"p4_programs": {"lib/p4/a.so": "x"}}, "P4 program lib/p4/a.so differs"),
        ({"code": {"core": "x"}}, "code in core differs"),
        ({"inventory_digest": "x"}, "inventory differs"),
        ({"testbed": "x"}, "testbed differs"),
        ({"fidelity_class": "rack"}, "fidelity class differs"),
        ({"machine": {"kernel": "x"}}, "machine's kernel differs"),
        ({"packages": {}}, "package gcc-12 differs"),
        ({"connections": {"host0": "ssh"}}, "connection of host0 differs"),
        ({"code": None}, "code is not in the manifest"),
        ({"extra_vars": {}}, "extra variables of the testbed differ"),
    ],
)
def test_what_was_made_with_something_else_is_measured_again(
    first: RunDirectory, second: RunDirectory, plan: Plan, manifest: dict, why: str
) -> None:
    search = searched(second, plan, **manifest)
    assert search.found == ()
    assert list(search.refused) == [("first", why)]
    (words,) = search.words(plan)
    assert words.startswith("not taken over from first: ")
    assert words.endswith(f"({why})")


def test_another_timeline_prediction_or_iteration_is_another_measurement(
    second: RunDirectory, first: RunDirectory, plan: Plan
) -> None:
    faulty = replace(plan, timeline=(Event(1.0, "kill", "host0"),))
    assert list(searched(second, faulty).refused) == [("first", "another timeline")]
    turn, *others = plan.turns
    one, *rest = turn.iterations
    for changed in (
        replace(turn, prediction={"other": 1}),
        replace(turn, iterations=(replace(one, data={"other": 1}), *rest)),
        replace(turn, iterations=(one,)),
    ):
        search = searched(second, replace(plan, turns=(changed, *others)))
        assert search.refused == {("first", "planned otherwise there"): [changed]}
        assert len(search.found) == len(others)


def test_what_is_not_complete_or_to_be_repeated_is_measured_here(
    tmp_path: Path, second: RunDirectory, plan: Plan
) -> None:
    first = RunDirectory(tmp_path / "first" / "night")
    first.create(plan, MANIFEST)
    one, other, failed, _ = plan.turns
    measure(first, one, 0)
    measure(first, other, disturbed="late", repeat=True)
    measure(first, failed, status=journal.FAILED)
    refused = searched(second, plan).refused
    assert refused == {("first", "not complete there"): [one, other, failed]}


def test_what_was_refused_there_is_said_to_be_and_asked_for_here(
    tmp_path: Path, second: RunDirectory, plan: Plan
) -> None:
    first = RunDirectory(tmp_path / "first" / "night")
    first.create(plan, MANIFEST)
    all_of_it, rest_of_it, failed_too, _ = plan.turns
    refusal = {"status": journal.REFUSED, "message": "no such thing"}
    measure(first, all_of_it, **refusal)
    measure(first, rest_of_it, 0, 1)
    measure(first, rest_of_it, 2, 3, **refusal)
    measure(first, failed_too, 0, status=journal.FAILED)
    measure(first, failed_too, 1, 2, 3, **refusal)
    search = searched(second, plan)
    assert search.refused == {
        ("first", "refused there: no such thing"): [all_of_it, rest_of_it],
        ("first", "not complete there"): [failed_too],
    }
    words, _ = search.words(plan)
    assert words.startswith("not taken over from first: ")
    assert words.endswith(" (refused there: no such thing)")


def test_what_is_not_valid_by_these_rules_is_measured_again(
    first: RunDirectory, second: RunDirectory, plan: Plan
) -> None:
    bad = plan.turns[1]
    search = searched(second, plan, lambda run, turn: "too late" if turn == bad else None)
    assert search.refused == {("first", "too late"): [bad]}
    assert bad not in [found.turn for found in search.found]


def test_a_turn_that_the_run_has_begun_itself_is_completed_there(
    first: RunDirectory, second: RunDirectory, plan: Plan
) -> None:
    begun = plan.turns[0]
    measure(second, begun, 0)
    search = searched(second, plan)
    assert begun not in [found.turn for found in search.found]
    assert search.refused == {}


def test_a_failed_attempt_of_its_own_is_no_beginning(
    first: RunDirectory, second: RunDirectory, plan: Plan
) -> None:
    measure(second, plan.turns[0], 0, status=journal.FAILED)
    sharing.take(second, searched(second, plan).found)
    assert journal.missing(plan, second.attempts()) == []


@pytest.mark.parametrize("step", range(8))
def test_whatever_is_torn_off_does_not_count_and_is_taken_over_again(
    monkeypatch: pytest.MonkeyPatch,
    first: RunDirectory,
    second: RunDirectory,
    plan: Plan,
    step: int,
) -> None:
    """Killed before the step-th link or line of the journal."""
    left = iter(range(step))

    class KilledError(BaseException):
        pass

    def may_go_on() -> None:
        if next(left, None) is None:
            raise KilledError

    def link(*arguments: Path) -> None:
        may_go_on()
        os.link(*arguments)

    def append(*arguments: object) -> None:
        may_go_on()
        real(*arguments)

    real = journal.append
    with monkeypatch.context() as patch:
        patch.setattr(files, "link_or_copy", link)
        patch.setattr(journal, "append", append)
        with pytest.raises(KilledError):
            sharing.take(second, searched(second, plan).found)
    counted = second.attempts()
    assert len(counted) == step // 2
    assert all((second.path / a.directory / "host0.json").exists() for a in counted)
    sharing.take(second, searched(second, plan).found)
    assert journal.missing(plan, second.attempts()) == []
    assert journal.repeated(second.attempts()) == set()


def test_a_half_taken_turn_whose_source_is_gone_is_completed_by_measuring(
    first: RunDirectory, second: RunDirectory, plan: Plan
) -> None:
    found = searched(second, plan).found[0]
    sharing.take(second, [Found(found.run, found.turn, found.attempts[:1])])
    (first.path / "plan.json").unlink()
    work = searched(second, plan).rest(selection.work(plan, second.attempts(), None))
    assert (found.turn, found.turn.iterations[0]) not in work
    assert len(work) == plan.iteration_count - 1


def test_other_file_systems_get_copies(
    monkeypatch: pytest.MonkeyPatch, first: RunDirectory, second: RunDirectory, plan: Plan
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    search, link = searched(second, plan), os.link

    def only_within(source: Path, path: Path) -> None:
        (refuse if Path(source).name == Path(path).name else link)(source, path)

    monkeypatch.setattr(os, "link", only_within)
    sharing.take(second, search.found)
    taken = second.attempts()[0]
    path = second.path / taken.directory / "host0.json"
    assert files.digest_of_file(path) == taken.files["host0.json"]
    assert path.stat().st_nlink == 1


def test_a_source_that_cannot_be_read_is_none(
    first: RunDirectory, second: RunDirectory, plan: Plan
) -> None:
    first.manifest_file.write_text("{")
    assert searched(second, plan) == Search()


def test_of_experiments_in_a_row_the_first_one_measures(plan: Plan) -> None:
    one, *others = plan.turns
    smaller = replace(plan, turns=(one,))
    faulty = replace(plan, timeline=(Event(1.0, "kill", "host0"),))
    plans = {"a": smaller, "b": plan, "c": plan, "d": faulty}
    left = sharing.once(plans, {name: selection.work(p, [], None) for name, p in plans.items()})
    assert {turn.cell.id for turn, _ in left["a"]} == {one.cell.id}
    assert [turn for turn, _ in left["b"] if turn is one] == []
    assert len(left["b"]) == plan.iteration_count - len(one.iterations) > 0
    assert left["c"] == []
    assert len(left["d"]) == plan.iteration_count
    assert len(others) + 1 == len(plan.turns)
