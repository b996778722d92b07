"""`-e only=…`: what it selects, and what it says when it selects nothing."""

from __future__ import annotations

import pytest

from turntable_core import plan as plans
from turntable_core import selection
from turntable_core.errors import InputError
from turntable_core.journal import FAILED, OK, Attempt
from turntable_core.spec import Scale

from .plans import make_plan

# The plan: light and heavy, 2 rounds, 4 stations: a, b, c, d.


@pytest.fixture
def plan(scale: Scale) -> plans.Plan:
    return make_plan(scale)


def chosen(plan: plans.Plan, text: str) -> list[tuple[str, int, int]]:
    places = selection.parse_selection(text, plan).choose(plan)
    return [(turn.cell.parameters["load"], turn.round, it.index) for turn, it in places]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("load=light,round=1,iteration=0", [("light", 1, 0)]),
        ("iteration=0", [(w, r, 0) for w in ("light", "heavy") for r in (0, 1)]),
        ("round=0, load=heavy", [("heavy", 0, i) for i in range(4)]),
        ("load=light,round=0,station=d", [("light", 0, 3)]),
        ("load=light,round=0,station=D", [("light", 0, 3)]),
        ("load=light,round=0,station=a", [("light", 0, 0)]),
        ("share=.99,load=light,round=0,iteration=1", [("light", 0, 1)]),
        (
            "load=light,round=0,iteration=0,iteration=3",
            [("light", 0, 0), ("light", 0, 3)],
        ),
    ],
)
def test_terms_select(plan: plans.Plan, text: str, expected: list) -> None:
    assert chosen(plan, text) == expected


def test_a_cell_is_selected_by_its_id_or_the_beginning(plan: plans.Plan) -> None:
    cell = plan.cells[1]
    for text in (cell.id, cell.id[:5], f"cell={cell.id[:5].upper()}"):
        assert chosen(plan, f"{text},round=0") == [("heavy", 0, i) for i in range(4)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("iteratoin=0", r"only=iteratoin=0: 'iteratoin'.*did you mean 'iteration'"),
        ("load=hevy", r"only=load: 'hevy'.*did you mean 'heavy'"),
        ("iteration=4", r"only=iteration: '4'.*one that this run has.*: 0, 1, 2, 3$"),
        ("station=e", r"only=station: 'e'.*: a, b, c, d"),
        (
            "zzz",
            r"only=cell: 'zzz'.*[0-9a-f]{12} \(light plain 4\), [0-9a-f]{12} \(heavy plain 4\)",
        ),
        ("", r"only: ''.*terms NAME=VALUE"),
        ("iteration=", r"only: 'iteration='.*terms NAME=VALUE"),
        ("iteration=0,,round=1", r"terms NAME=VALUE"),
        ("iteration=0,station=d", r"terms that hold together"),
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


def test_description_names_turns_and_iterations(plan: plans.Plan) -> None:
    places = selection.work(plan, [], "load=light,round=0,iteration=3")
    cell = plan.cells[0].id
    expected = f"  light plain 4, round 0: iteration 3 (station d)  [cell {cell}]"
    assert selection.describe(plan, places) == expected
