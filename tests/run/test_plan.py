"""Cells, and that plan.json says all of a plan."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from turntable_core import plan
from turntable_core.errors import InputError, TurntableError
from turntable_core.spec import Experiment, Scale, choose_profile

from .plans import make_plan, planned


def test_cells_are_the_product_of_the_factors(scale: Scale) -> None:
    cells = plan.cells_of(replace(scale, factors={**scale.factors, "stations": [4, 8]}))
    chosen = [
        (c.parameters["load"], c.parameters["stations"], c.parameters["operations"]) for c in cells
    ]
    assert chosen == [
        ("light", 4, 2000),
        ("light", 8, 5000),
        ("heavy", 4, 2000),
        ("heavy", 8, 5000),
    ]


def test_levels_that_mean_nothing_to_a_method_are_one_cell(scale: Scale) -> None:
    factors = {
        "method": ["plain", "slow"],
        "delay_us": [0, 500],
        "stations": [4],
    }
    cells = plan.cells_of(replace(scale, factors=factors | {"load": ["steady"]}))
    assert [(c.parameters["method"], c.parameters.get("delay_us")) for c in cells] == [
        ("plain", None),
        ("slow", 0),
        ("slow", 500),
    ]


def test_cell_id_follows_the_parameters_only(scale: Scale) -> None:
    first = plan.cells_of(scale)[0]
    same = plan.cells_of(replace(scale, rounds=9, profile="other"))[0]
    other = plan.cells_of(replace(scale, constants={**scale.constants, "share": 0.9}))[0]
    assert first.id == same.id
    assert first.id != other.id
    assert plan.cell_id(dict(reversed(first.parameters.items()))) == first.id


def test_constant_without_a_value_for_a_level_is_an_error(scale: Scale) -> None:
    constants = {**scale.constants, "measure_s": {"by": "stations", "values": {16: 10}}}
    with pytest.raises(InputError, match=r"measure_s\.values: \[16\].*stations 4 too, or"):
        plan.cells_of(replace(scale, constants=constants))


def test_constant_by_something_else_than_a_factor_is_an_error(scale: Scale) -> None:
    constants = {**scale.constants, "measure_s": {"by": "share", "values": {1: 1}}}
    with pytest.raises(InputError, match=r"measure_s\.by: 'share'.*method, load, stations"):
        plan.cells_of(replace(scale, constants=constants))


def test_profile_that_leaves_a_parameter_open_is_an_error(experiment: Experiment) -> None:
    with pytest.raises(InputError, match=r"measure_s is missing.*its profile unfinished"):
        plan.cells_of(choose_profile(experiment, "unfinished"))


def test_plan_survives_json(scale: Scale) -> None:
    made = make_plan(scale)
    document = json.loads(json.dumps(plan.to_json(made)))
    assert plan.from_json(document) == made
    assert (len(made.turns), made.iteration_count) == (2 * 2, 2 * 2 * 4)
    assert (document["format"], document["system"]) == (2, "fake")
    assert document["turns"][0]["iterations"][3] == {
        "index": 3,
        "label": "station d",
        "data": {"station": "d"},
    }


def test_plan_of_format_1_is_read(scale: Scale) -> None:
    """Its system had another name, and what the system knows of an iteration had no place of its
    own.
    """
    made = make_plan(scale)
    document = json.loads(json.dumps(plan.to_json(made))) | {"format": 1, "system": "feint"}
    for turn in document["turns"]:
        turn["iterations"] = [
            {"index": iteration["index"], **iteration["data"]} for iteration in turn["iterations"]
        ]
    assert document["turns"][0]["iterations"][3] == {"index": 3, "station": "d"}
    assert plan.from_json(document) == made


@pytest.mark.parametrize("format_", [0, 3, "2", None])
def test_plan_of_another_format_is_refused(scale: Scale, format_: object) -> None:
    document = plan.to_json(make_plan(scale)) | {"format": format_}
    with pytest.raises(TurntableError, match=rf"format {format_!r} is none of 1, 2"):
        plan.from_json(document)


def test_every_round_is_planned_for_itself(scale: Scale) -> None:
    asked = []
    plan.make_plan(
        scale,
        plan.cells_of(scale),
        lambda p, r: asked.append((p["load"], r)) or planned(scale)(p, r),
    )
    assert sorted(asked) == [("heavy", 0), ("heavy", 1), ("light", 0), ("light", 1)]
