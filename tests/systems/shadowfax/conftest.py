"""A small experiment of Shadowfax, so that tests do not change when the shipped ones do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from small_experiment import (  # noqa: F401  # fixtures
    experiment,
    experiments,
    scale,
)
from turntable_core import plan
from turntable_core.context import Context
from turntable_core.plan import Plan
from turntable_core.spec import Scale
from turntable_core.testbed import read_testbed
from turntable_systems.shadowfax import SYSTEM

from .testbeds import GROUPS, hostvars

DOCUMENT = {
    "experiment": "tiny",
    "title": "A small experiment",
    "system": "shadowfax",
    "source": "these tests",
    "factors": {"workload": ["rmw", "a"], "distribution": ["zipfian"]},
    "constants": {
        "store": "shadowfax",
        "servers": 2,
        "cluster": False,
        "owners": 0,
        "checkpoint_s": 2,
        "move_share": 0.5,
        "sample_s": 0,
        "indirection": False,
        "capacity_per_s": 0,
        "sample_ms": 1000,
        "threads": 2,
        "keys": 1_000_000,
        "value_bytes": 8,
        "theta": 0.99,
        "load_file": "",
        "txns_file": "",
        "batch_operations": 1926,
        "pipeline": 2,
        "fill_batch_bytes": 32768,
        "fill_pipeline": 2,
        "rate_per_s": 0,
        "memory_share": 2,
        "page_bits": 20,
        "mutable_share": 0.9,
        "index_bits": 0,
        "reader_threads": 4,
        "uses_uring": True,
        "most_pending": 64,
        "spin_us": 50,
        "range_check": "view",
        "splits": 64,
        "compact_above": 0,
        "server_cpus": "",
        "client_cpus": "",
        "seed": 7,
        "start_lead_ms": 100,
        "warmup_s": 1,
        "measure_s": 2,
        "drain_s": 0.5,
    },
    "deadlines": {
        "start_nodes": 10,
        "configure": 10,
        "prepare": 10,
        "fill": 60,
        "command": 5,
        "collect": 30,
        "stop": 10,
    },
    "validity": {
        "consistency_difference_max": 0.05,
        "capacity_difference_max": 0.03,
        "refused_share_max": 0.01,
        "offered_difference_max": 0.02,
        "send_late_us_max": 250,
        "loss_share_max": 0.001,
        "late_share_max": 0.05,
        "wait_share_max": 0.3,
        "steal_share_max": 0.05,
    },
    "profiles": {"smoke": {"rounds": 1}},
}


@pytest.fixture
def document() -> dict:
    return DOCUMENT


def parameters(**changes: object) -> dict:
    """Of a cell of it."""
    return {"workload": "rmw", "distribution": "zipfian"} | DOCUMENT["constants"] | changes


@pytest.fixture
def made(scale: Scale) -> Plan:  # noqa: F811
    planner = SYSTEM.planner(Path("/nowhere"), 1, lambda: None)
    return plan.make_plan(scale, plan.cells_of(scale), planner)


@pytest.fixture
def contexts(made: Plan) -> dict[str, Context]:
    """By workload: the only iteration of its cell."""
    testbed = read_testbed(hostvars(), GROUPS)
    return {
        turn.cell.parameters["workload"]: Context(
            testbed, made, turn, turn.iterations[0], start_at_ns=10_000_000_000
        )
        for turn in made.turns
    }


def with_parameters(context: Context, **changes: object) -> Context:
    """The same plan with these parameters in all of its cells."""

    def changed(turn: plan.Turn) -> plan.Turn:
        parameters = {**turn.cell.parameters, **changes}
        return replace(turn, cell=plan.Cell(plan.cell_id(parameters), parameters))

    every = replace(context.plan, turns=tuple(map(changed, context.plan.turns)))
    return replace(context, plan=every, turn=changed(context.turn))
