"""The units of a block and their order."""

from __future__ import annotations

from collections import Counter

import pytest

from turntable_systems.swan import block
from turntable_systems.swan.loads import loads

from .conftest import parameters


def _units(**changes: object) -> list[tuple[str, float, int]]:
    made = block.iterations(parameters(**changes), 0)
    return [(unit.data["aggressor"], unit.data["load"], unit.data["repeat"]) for unit in made]


def test_every_aggressor_has_every_load_once_and_the_baseline_as_often_as_asked() -> None:
    units = _units(baselines=3)
    # Two aggressors and three baseline rows, at two loads.
    assert len(units) == block.count(parameters(baselines=3)) == 10
    assert Counter((name, load) for name, load, _ in units) == {
        ("placebo", 0.5): 1,
        ("placebo", 1.0): 1,
        ("stress-ng-cache-l3", 0.5): 1,
        ("stress-ng-cache-l3", 1.0): 1,
        ("Baseline", 0.5): 3,
        ("Baseline", 1.0): 3,
    }


def test_baseline_rows_are_at_both_ends_and_between() -> None:
    names = [name for name, _, _ in _units(baselines=3)]
    assert names[:2] == names[4:6] == names[8:] == ["Baseline"] * 2
    assert "Baseline" not in names[2:4] + names[6:8]
    assert [repeat for name, _, repeat in _units(baselines=3) if name == "Baseline"] == [
        *(0, 0, 1, 1, 2, 2)
    ]


@pytest.mark.parametrize(("rows", "first"), [(1, 0), (2, 0)])
def test_few_baseline_rows(rows: int, first: int) -> None:
    names = [name for name, _, _ in _units(baselines=rows)]
    places = [index for index, name in enumerate(names) if name == "Baseline"]
    assert places == [first, first + 1, *([6, 7] if rows == 2 else [])]


def test_without_aggressors_there_is_the_baseline() -> None:
    assert {name for name, _, _ in _units(aggressors="", baselines=2)} == {"Baseline"}


def test_the_order_is_drawn_by_seed_and_round() -> None:
    many = parameters(loads="", load_points=20)
    orders = {
        tuple(unit.label for unit in block.iterations(many | {"seed": seed}, round_))
        for seed in (1, 2)
        for round_ in (0, 1)
    }
    assert len(orders) == 4
    assert block.iterations(many, 1) == block.iterations(many, 1)


def test_loads_are_equal_steps_up_to_the_peak_without_rounding_down() -> None:
    """Swan divides first, in whole numbers: 7 points of 100 ended at 98."""
    assert loads(parameters(loads="", load_points=7))[-1] == 1
    assert loads(parameters(loads="", load_points=4)) == (0.25, 0.5, 0.75, 1)


def test_a_unit_says_what_is_started() -> None:
    (unit,) = (
        unit
        for unit in block.iterations(parameters(be_processes=3), 0)
        if (unit.data["aggressor"], unit.data["load"]) == ("stress-ng-cache-l3", 1)
    )
    assert unit.data["job"]["count"] == 3
    assert unit.data["job"]["command"][0] == "stress-ng"
    # It would leave its processor otherwise, whatever taskset says.
    assert "--cache-no-affinity" in unit.data["job"]["command"]
    assert unit.label == "stress-ng-cache-l3 at 1 of the peak"
