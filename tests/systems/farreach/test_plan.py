"""Rotation, prediction and cells of FarReach, and that plan.json says all of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from turntable_core import plan
from turntable_core.spec import Scale
from turntable_systems.farreach import SYSTEM
from turntable_systems.farreach.prediction import Composition, Prediction, WriteThrough
from turntable_systems.farreach.rotation import iterations, partitions_of, rotation

from .plans import EVEN, make_plan

FORMAT_1 = Path(__file__).parent / "recorded_plans" / "format1.json"


def test_rotation_pairs_the_bottleneck_with_every_other_partition() -> None:
    # FarReach reference, section 6.1: iteration 0 is the bottleneck alone.
    made = iterations(4, 2)
    assert [(it.index, partitions_of(it), it.label) for it in made] == [
        (0, [2], "partitions 2"),
        (1, [2, 0], "partitions 2+0"),
        (2, [2, 1], "partitions 2+1"),
        (3, [2, 3], "partitions 2+3"),
    ]


def test_rotation_of_sixteen_has_sixteen_iterations() -> None:
    pairs = rotation(16, 14)
    assert len(pairs) == 16
    assert pairs[-1].partitions == [14, 15]


def test_a_round_has_as_many_iterations_as_servers() -> None:
    assert SYSTEM.iteration_count({"servers": 32}) == len(iterations(32, 0))


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


def test_plan_survives_json(scale: Scale) -> None:
    modelled = Prediction(
        2,
        EVEN,
        Composition((0.4, 0.3, 0.2, 0.1), 2.5, None),
        keys=(1, 2, 3, 4),
        requests=(0.1, 0.2, 0.3, 0.4),
        write_through=(WriteThrough(0.5, ((0.1, 0.9, 0, 0), (0.1, 0.8, 0.2, 0.3))),),
    )
    for prediction in (Prediction(2, EVEN, EVEN), modelled):
        made = make_plan(scale, prediction)
        document = json.loads(json.dumps(plan.to_json(made)))
        assert plan.from_json(document) == made
        assert document["turns"][0]["iterations"][3] == {
            "index": 3,
            "label": "partitions 2+3",
            "data": {"partitions": [2, 3]},
        }


def test_a_recorded_plan_of_format_1_is_read() -> None:
    """Of a run of 22 November 2026, when the system was kvcache."""
    document = json.loads(FORMAT_1.read_bytes())
    assert (document["format"], document["system"]) == (1, "kvcache")
    made = plan.from_json(document)
    assert (made.system_name, made.system) == ("farreach", SYSTEM)
    (turn,) = made.turns
    assert [(it.index, it.label, partitions_of(it)) for it in turn.iterations] == [
        (0, "partitions 1", [1]),
        (1, "partitions 1+0", [1, 0]),
    ]
    assert turn.prediction.trace.shares == tuple(
        document["turns"][0]["prediction"]["trace"]["shares"]
    )
    assert turn.prediction.keys == tuple(document["turns"][0]["prediction"]["keys"])
    assert turn.cell.parameters == document["cells"][turn.cell.id]


def test_a_plan_of_format_1_becomes_one_of_format_2() -> None:
    made = plan.from_json(json.loads(FORMAT_1.read_bytes()))
    document = json.loads(json.dumps(plan.to_json(made)))
    assert (document["format"], document["system"]) == (2, "farreach")
    assert plan.from_json(document) == made


def test_partitions_are_selected_as_the_progress_line_shows_them() -> None:
    alone, *_, last = iterations(4, 2)
    assert SYSTEM.places(alone) == {"partition": ("2", "2")}
    assert SYSTEM.places(last) == {"partition": ("2+3", "3")}


def test_a_plan_of_before_has_the_present_name_of_its_experiment() -> None:
    document = json.loads(FORMAT_1.read_bytes())
    assert document["experiment"] == "farreach_recovery"
    made = plan.from_json(document)
    assert made.experiment == "farreach_exp09_recovery"
    assert made.reference == "reference/farreach_exp09_recovery.csv"
