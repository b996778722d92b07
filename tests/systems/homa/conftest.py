"""A small experiment of Homa, so that tests do not change when the shipped ones do."""

from __future__ import annotations

from collections.abc import Mapping
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
from turntable_systems.homa.prediction import Prediction

from .testbeds import GROUPS, hostvars

REPOSITORY = Path(__file__).resolve().parents[3]

DOCUMENT = {
    "experiment": "tiny",
    "title": "A small experiment",
    "system": "homa",
    "source": "these tests",
    "factors": {"method": ["basic", "homa-p8", "tcp"], "sizes": ["W3"], "load": [0.8]},
    "constants": {
        "message_bytes": 100,
        "cap_bytes": 1_000_000,
        "divide": 1,
        "arrivals": "exponential",
        "beside": "none",
        "outstanding": 50,
        "fan_out": 1,
        "response_bytes": 0,
        "clients": 2,
        "link_mbps": 20,
        "true_gbps": 10,
        "path_delay_ms": 1,
        "host_delay_ms": 0,
        "payload_bytes": 1470,
        "rtt_bytes": 0,
        "priorities": "paper",
        "cutoffs": "",
        "degree": 0,
        "connections": 8,
        "at_most_once": False,
        "tick_ms": 100,
        "queue_ahead_us": 2,
        "buffer_bytes": 2_000_000,
        "seed": 7,
        "start_lead_ms": 20,
        "warmup_s": 1,
        "measure_s": 10,
        "drain_s": 5,
    },
    "deadlines": {
        "start_nodes": 10,
        "configure": 10,
        "baseline": 20,
        "prepare": 10,
        "command": 5,
        "collect": 10,
        "stop": 10,
    },
    "validity": {
        "loss_share_max": 0,
        "delivered_share_difference_max": 0.02,
        "samples_min": 1000,
        "sent_again_share_max": 0.001,
        "link_late_share_max": 0.01,
        "client_late_packets_max": 1,
        "server_shortfall_max": 0.5,
        "idle_difference_max": 0.15,
        "late_share_max": 0.05,
        "wait_share_max": 0.3,
        "steal_share_max": 0.05,
    },
    "profiles": {"smoke": {"rounds": 1}},
}
PREDICTION = Prediction(
    payload_bps=14e6,
    mean_bytes=2423.0,
    rtt_bytes=8820,
    unscheduled_levels=4,
    cutoffs=(469, 5521, 15267),
    degree=4,
    calls=20_000,
    offered_bps=14e6,
    delivered_bps=13.3e6,
    rtt_ns=("",) * 10,
    slowdown_1000=("",) * 10,
    idle_ns=((3, 2_142_400.0), (1_000_000, 870e6)),
)


@pytest.fixture
def document() -> dict:
    return DOCUMENT


def parameters(**changes: object) -> dict:
    """Of a cell of it."""
    levels = {"method": "homa-p8", "sizes": "W3", "load": 0.8}
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
