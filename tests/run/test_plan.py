"""Cells, rotation, and that plan.json says all of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from turntable_core import plan
from turntable_core.errors import InputError
from turntable_core.spec import Experiment, Scale, choose_profile

EVEN = plan.Composition((0.25, 0.25, 0.25, 0.25), 4.0, 1.0)


def predict(parameters: dict, round_: int) -> plan.Prediction:
    return plan.Prediction(2, EVEN, EVEN)


def make_plan(scale: Scale) -> plan.Plan:
    return plan.make_plan(scale, plan.cells_of(scale), predict)


def test_rotation_pairs_the_bottleneck_with_every_other_partition() -> None:
    # FarReach reference, section 6.1: iteration 0 is the bottleneck alone.
    iterations = plan.rotation(4, 2)
    assert [(it.index, it.partitions) for it in iterations] == [
        (0, [2]),
        (1, [2, 0]),
        (2, [2, 1]),
        (3, [2, 3]),
    ]


def test_rotation_of_sixteen_has_sixteen_iterations() -> None:
    iterations = plan.rotation(16, 14)
    assert len(iterations) == 16
    assert iterations[-1].partitions == [14, 15]


def test_cells_are_the_product_of_the_factors(scale: Scale) -> None:
    cells = plan.cells_of(replace(scale, factors={**scale.factors, "servers": [4, 8]}))
    chosen = [
        (c.parameters["workload"], c.parameters["servers"], c.parameters["operations"])
        for c in cells
    ]
    assert chosen == [
        ("workloada", 4, 2000),
        ("workloada", 8, 5000),
        ("workloadc", 4, 2000),
        ("workloadc", 8, 5000),
    ]


def test_levels_that_mean_nothing_to_a_method_are_one_cell(scale: Scale) -> None:
    factors = {
        "method": ["farreach", "netcache"],
        "value_update_delay_us": [0, 500],
        "servers": [4],
    }
    cells = plan.cells_of(replace(scale, factors=factors | {"workload": ["synthetic"]}))
    assert [(c.parameters["method"], c.parameters.get("value_update_delay_us")) for c in cells] == [
        ("farreach", None),
        ("netcache", 0),
        ("netcache", 500),
    ]


def test_cell_id_follows_the_parameters_only(scale: Scale) -> None:
    first = plan.cells_of(scale)[0]
    same = plan.cells_of(replace(scale, rounds=9, profile="other"))[0]
    other = plan.cells_of(replace(scale, constants={**scale.constants, "theta": 0.9}))[0]
    assert first.id == same.id
    assert first.id != other.id
    assert plan.cell_id(dict(reversed(first.parameters.items()))) == first.id


def test_constant_without_a_value_for_a_level_is_an_error(scale: Scale) -> None:
    constants = {**scale.constants, "measure_s": {"by": "servers", "values": {16: 10}}}
    with pytest.raises(InputError, match=r"measure_s\.values: \[16\].*servers 4 too, or"):
        plan.cells_of(replace(scale, constants=constants))


def test_constant_by_something_else_than_a_factor_is_an_error(scale: Scale) -> None:
    constants = {**scale.constants, "measure_s": {"by": "theta", "values": {1: 1}}}
    with pytest.raises(InputError, match=r"measure_s\.by: 'theta'.*method, workload, servers"):
        plan.cells_of(replace(scale, constants=constants))


def test_profile_that_leaves_a_parameter_open_is_an_error(experiment: Experiment) -> None:
    with pytest.raises(InputError, match=r"measure_s is missing.*its profile unfinished"):
        plan.cells_of(choose_profile(experiment, "unfinished"))


def test_plan_survives_json(scale: Scale) -> None:
    made = make_plan(scale)
    document = json.loads(json.dumps(plan.to_json(made)))
    assert plan.from_json(document) == made
    assert (len(made.turns), made.iteration_count) == (2 * 2, 2 * 2 * 4)
    assert document["turns"][0]["iterations"][3] == {"index": 3, "partitions": [2, 3]}


def test_trace_bottleneck_is_asked_for_every_round(scale: Scale) -> None:
    asked = []
    plan.make_plan(
        scale, plan.cells_of(scale), lambda p, r: asked.append((p["workload"], r)) or predict(p, r)
    )
    wanted = [("workloada", 0), ("workloada", 1), ("workloadc", 0), ("workloadc", 1)]
    assert sorted(asked) == wanted
