"""A small experiment of Swan, so that tests do not change when the shipped ones do."""

from __future__ import annotations

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
from turntable_systems.swan import SYSTEM

from .testbeds import GROUPS, hostvars

DOCUMENT = {
    "experiment": "tiny",
    "title": "A small experiment",
    "system": "swan",
    "source": "these tests",
    "factors": {"layout": ["same-core"], "isolation": ["none", "quota"]},
    "constants": {
        "hp_count": 1,
        "be_count": 1,
        "hp_cpus": "",
        "l1_cpus": "",
        "l3_cpus": "",
        "generator_cpus": "",
        "be_shares": 2,
        "quota_share": 0.1,
        "be_nice": 19,
        "rt_runtime_share": 0.9,
        "cat_ways": 1,
        "mba_percent": 10,
        "aggressors": "placebo+stress-ng-cache-l3",
        "aggressors_file": "",
        "be_processes": 1,
        "baselines": 3,
        "slo_us": 5000,
        "percentile": 99,
        "peak_load": 0,
        "load_points": 10,
        "loads": "0.5+1",
        "tune_s": 3,
        "tune_repeats": 3,
        "threads": 1,
        "threads_affinity": False,
        "max_connections": 1024,
        "memory_mb": 256,
        "memcached_port": 21211,
        "memcached_user": "root",
        "memcached_timeout_s": 5,
        "fresh": "block",
        "transport": "tcp",
        "protocol": "ascii",
        "records": 1000,
        "key_size": "30",
        "value_size": "200",
        "update": 0,
        "arrivals": "exponential",
        "connections": 16,
        "depth": 4,
        "client_threads": 1,
        "realtime": True,
        "spin_us": 0,
        "probe_s": 0.1,
        "least_processors": 2,
        "seed": 20170301,
        "start_lead_ms": 100,
        "warmup_s": 1,
        "measure_s": 5,
        "drain_s": 1,
    },
    "deadlines": {
        "start_nodes": 10,
        "configure": 10,
        "survey": 10,
        "populate": 10,
        "tune": 10,
        "prepare": 10,
        "settle": 10,
        "command": 10,
        "finish": 10,
        "collect": 10,
        "stop": 10,
    },
    "validity": {
        "send_late_slo_share_max": 0.1,
        "loss_share_max": 0,
        "offered_difference_max": 0.02,
        "miss_share_max": 0,
        "late_share_max": 0.05,
        "wait_share_max": 0.05,
        "steal_share_max": 0.05,
        "others_share_max": 0.1,
        "probe_drift_max": 0.25,
    },
    "profiles": {"smoke": {"rounds": 1}},
}


@pytest.fixture
def document() -> dict:
    return DOCUMENT


def parameters(**changes: object) -> dict:
    """Of a cell of it."""
    return {"layout": "same-core", "isolation": "none"} | DOCUMENT["constants"] | changes


@pytest.fixture
def made(scale: Scale) -> Plan:  # noqa: F811
    planner = SYSTEM.planner(Path("/nowhere"), 1, lambda: None)
    return plan.make_plan(scale, plan.cells_of(scale), planner)


@pytest.fixture
def contexts(made: Plan) -> dict[str, Context]:
    """By isolation: the iteration beside an aggressor at half of the peak."""
    testbed = read_testbed(hostvars(), GROUPS)
    found = {}
    for turn in made.turns:
        (one,) = (
            unit
            for unit in turn.iterations
            if (unit.data["aggressor"], unit.data["load"]) == ("stress-ng-cache-l3", 0.5)
        )
        isolation = turn.cell.parameters["isolation"]
        found[isolation] = Context(testbed, made, turn, one, start_at_ns=10_000_000_000)
    return found
