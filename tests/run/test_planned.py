"""Cells of several experiments are planned once."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable_core import plan
from turntable_core.planned import Known, Planner
from turntable_core.spec import Scale

from .plans import planned

MANIFEST = {"binaries": {"bin/planner": "1"}, "code": {"core": "2"}, "created_at": "any"}


class Counting:
    def __init__(self, planner: Planner) -> None:
        self.asked = 0
        self._planner = planner

    def __call__(self, *arguments: object) -> object:
        self.asked += 1
        return self._planner(*arguments)


@pytest.fixture
def planner(scale: Scale) -> Counting:
    return Counting(planned(scale))


def made(scale: Scale, known: Known, planner: Counting) -> plan.Plan:
    once = known.planner(scale.experiment.system, planner)
    return plan.make_plan(scale, plan.cells_of(scale), once)


def test_what_is_known_is_the_same_plan_and_asks_nobody(
    tmp_path: Path, scale: Scale, planner: Counting
) -> None:
    known = Known(tmp_path / "planned.json", MANIFEST)
    first = made(scale, known, planner)
    count = planner.asked
    assert count == len(first.turns)
    assert made(scale, known, planner) == first
    known.save()
    again = Known(tmp_path / "planned.json", MANIFEST | {"created_at": "later"})
    assert made(scale, again, planner) == first
    assert planner.asked == count


@pytest.mark.parametrize("changed", [{"binaries": {"bin/planner": "x"}}, {"code": {}}])
def test_other_programs_plan_anew(
    tmp_path: Path, scale: Scale, planner: Counting, changed: dict
) -> None:
    known = Known(tmp_path / "planned.json", MANIFEST)
    made(scale, known, planner)
    known.save()
    count = planner.asked
    made(scale, Known(tmp_path / "planned.json", MANIFEST | changed), planner)
    assert planner.asked == 2 * count


def test_a_damaged_file_knows_nothing(tmp_path: Path, scale: Scale, planner: Counting) -> None:
    (tmp_path / "planned.json").write_text("{")
    made(scale, Known(tmp_path / "planned.json", MANIFEST), planner)
    assert planner.asked == len(plan.cells_of(scale)) * scale.rounds
