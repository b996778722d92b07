"""A small experiment of NetClone, so that tests do not change when the shipped ones do."""

from __future__ import annotations

from collections.abc import Mapping
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
from turntable_core.plan import Iteration, Plan
from turntable_core.spec import Scale
from turntable_core.system import Planned
from turntable_core.testbed import read_testbed
from turntable_systems.netclone.prediction import Prediction

from .testbeds import GROUPS, hostvars

REPOSITORY = Path(__file__).resolve().parents[3]

DOCUMENT = {
    "experiment": "tiny",
    "title": "A small experiment",
    "system": "netclone",
    "source": "these tests",
    "factors": {
        "method": ["noclone", "netclone-racksched", "laedge"],
        "distribution": ["exp25"],
        "load": [0.5],
    },
    "constants": {
        "target_rps": 0,
        "servers": 3,
        "workers": 8,
        "mode": "slots",
        "dilation": 100,
        "jitter_probability": 0.01,
        "jitter_factor": 15,
        "mean_us": 25,
        "sigma": 1,
        "clients": 4,
        "arrivals": "exponential",
        "outstanding_max": 1000,
        "record_latencies": False,
        "filter": True,
        "laedge_mode": "slots",
        "scan_share": 0.01,
        "objects": 1000,
        "theta": 0.99,
        "seed": 7,
        "requests": 1000,
        "assumed_path_us": 100,
        "start_lead_ms": 20,
        "warmup_s": 1,
        "measure_s": 0.5,
        "drain_s": 1,
    },
    "deadlines": {
        "start_nodes": 10,
        "configure": 10,
        "prepare": 10,
        "command": 5,
        "collect": 10,
        "stop": 10,
    },
    "validity": {
        "loss_share_max": 0.02,
        "send_late_share_max": 0.5,
        "work_error_share_max": 0.1,
        "slots_busy_difference_max": 0.1,
        "counter_share_max": 0.001,
        "late_share_max": 0.05,
        "switch_stall_services_max": 5,
        "wait_share_max": 0.5,
        "steal_share_max": 0.05,
    },
    "profiles": {"smoke": {"rounds": 1}},
}
PREDICTION = Prediction("", 0.5, 0.1, saturated=False)


@pytest.fixture
def document() -> dict:
    return DOCUMENT


def parameters(**changes: object) -> dict:
    """Of a cell of it."""
    levels = {"method": "netclone", "distribution": "exp25", "load": 0.5}
    return levels | DOCUMENT["constants"] | changes


@pytest.fixture
def made(scale: Scale) -> Plan:  # noqa: F811
    def planned(_: Mapping[str, object], round_: int) -> Planned:
        return Planned((Iteration(0, "all"),), PREDICTION)

    return plan.make_plan(scale, plan.cells_of(scale), planned)


@pytest.fixture
def contexts(made: Plan) -> dict[str, Context]:
    """By method: the only iteration of its cell."""
    testbed = read_testbed(hostvars(), GROUPS)
    return {
        turn.cell.parameters["method"]: Context(
            testbed, made, turn, turn.iterations[0], start_at_ns=10_000_000_000
        )
        for turn in made.turns
    }


def with_parameters(context: Context, **changes: object) -> Context:
    cell = context.turn.cell
    cell = replace(cell, parameters=dict(cell.parameters) | changes)
    return replace(context, turn=replace(context.turn, cell=cell))
