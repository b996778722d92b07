"""`-e only=…`: what it selects, and what it says when it selects nothing."""

from __future__ import annotations

import pytest

from turntable_core import plan as plans
from turntable_core import selection
from turntable_core.errors import InputError
from turntable_core.journal import FAILED, OK, Attempt
from turntable_core.spec import Scale

from .test_plan import make_plan

# The plan: workloada and workloadc, 2 rounds, 4 servers. Iterations: 2 alone, 2+0, 2+1, 2+3.


@pytest.fixture
def plan(scale: Scale) -> plans.Plan:
    return make_plan(scale)


def chosen(plan: plans.Plan, text: str) -> list[tuple[str, int, int]]:
    places = selection.parse_selection(text, plan).choose(plan)
    return [(turn.cell.parameters["workload"], turn.round, it.index) for turn, it in places]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("workload=workloada,round=1,iteration=0", [("workloada", 1, 0)]),
        ("iteration=0", [(w, r, 0) for w in ("workloada", "workloadc") for r in (0, 1)]),
        ("round=0, workload=workloadc", [("workloadc", 0, i) for i in range(4)]),
        ("workload=workloada,round=0,partition=2+3", [("workloada", 0, 3)]),
        ("workload=workloada,round=0,partition=3", [("workloada", 0, 3)]),
        ("workload=workloada,round=0,partition=2", [("workloada", 0, 0)]),
        ("theta=.99,workload=workloada,round=0,iteration=1", [("workloada", 0, 1)]),
        (
            "workload=workloada,round=0,iteration=0,iteration=3",
            [("workloada", 0, 0), ("workloada", 0, 3)],
        ),
    ],
)
def test_terms_select(plan: plans.Plan, text: str, expected: list) -> None:
    assert chosen(plan, text) == expected


def test_a_cell_is_selected_by_its_id_or_the_beginning(plan: plans.Plan) -> None:
    cell = plan.cells[1]
    for text in (cell.id, cell.id[:5], f"cell={cell.id[:5].upper()}"):
        assert chosen(plan, f"{text},round=0") == [("workloadc", 0, i) for i in range(4)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("iteratoin=0", r"only=iteratoin=0: 'iteratoin'.*did you mean 'iteration'"),
        ("workload=workkloadc", r"only=workload: 'workkloadc'.*did you mean 'workloadc'"),
        ("iteration=4", r"only=iteration: '4'.*one that this run has.*: 0, 1, 2, 3$"),
        ("partition=3+2", r"only=partition: '3\+2'.*: 2, 2\+0, 2\+1, 2\+3"),
        ("zzz", r"only=cell: 'zzz'.*[0-9a-f]{12} \(workloada\), [0-9a-f]{12} \(workloadc\)"),
        ("", r"only: ''.*terms NAME=VALUE"),
        ("iteration=", r"only: 'iteration='.*terms NAME=VALUE"),
        ("iteration=0,,round=1", r"terms NAME=VALUE"),
        ("iteration=0,partition=2+3", r"terms that hold together"),
    ],
)
def test_what_selects_nothing_is_explained(plan: plans.Plan, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        chosen(plan, text)


def test_work_is_what_lacks_or_what_was_chosen(plan: plans.Plan) -> None:
    cell = plan.cells[0].id
    times = {"began_at_ns": 1, "ended_at_ns": 2}
    attempts = [
        Attempt(cell, 0, 0, 1, OK, **times),
        Attempt(cell, 0, 1, 1, FAILED, **times),
    ]
    lacking = selection.work(plan, attempts, None)
    assert [it.index for turn, it in lacking if turn is plan.turns[0]] == [1, 2, 3]
    again = selection.work(plan, attempts, f"{cell},round=0,iteration=0")
    assert [(turn.cell.id, turn.round, it.index) for turn, it in again] == [(cell, 0, 0)]


def test_description_names_turns_and_placements(plan: plans.Plan) -> None:
    places = selection.work(plan, [], "workload=workloada,round=0,iteration=3")
    cell = plan.cells[0].id
    expected = f"  workloada nocache 4, round 0: iteration 3 (2+3)  [cell {cell}]"
    assert selection.describe(plan, places) == expected
