"""A small experiment of FarReach, so that tests do not change when the shipped ones do."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_experiment import (  # noqa: F401  # fixtures
    experiment,
    experiments,
    scale,
)

REPOSITORY = Path(__file__).resolve().parents[3]

DOCUMENT = {
    "experiment": "tiny",
    "title": "A small experiment",
    "system": "farreach",
    "source": "these tests",
    "factors": {"method": ["nocache"], "workload": ["workloada", "workloadc"], "servers": [4]},
    "constants": {
        "records": 1000,
        "theta": 0.99,
        "value_bytes": 128,
        "cache_size": 10,
        "seed": 7,
        "clients": 8,
        "client_threads": 1,
        "timeout_us": 1000000,
        "switch_processing_delay_ns": 0,
        "client_copies": True,
        "snapshot_period_s": 0,
        "start_lead_ms": 20,
        "drain_s": 1,
        "capacity_ops_per_s": 100,
        "operations": {"by": "servers", "values": {4: 2000}, "otherwise": 5000},
        "warmup_s": 1,
        "store_profile": "embedded",
    },
    "deadlines": {
        "start_nodes": 10,
        "configure": 10,
        "load": 10,
        "prepare": 10,
        "command": 5,
        "stop": 10,
    },
    "validity": {
        "busiest_utilization": [0.97, 1.03],
        "busy_share_min": 0.9,
        "capacity_lost_share_max": 0.03,
        "rate_difference_max": 0.01,
        "loss_share_max": 0.001,
        "hit_share_errors_max": 5,
        "composition_errors_max": 5,
        "unsettled_share_max": 0.01,
        "change_spread_s_max": 0.1,
        "returned_within": 0.05,
        "return_s_max": 2,
        "dip_min": 0.03,
        "offered_errors_max": 5,
        "delivered_difference_max": 0.05,
        "send_late_us_max": 250,
        "path_skew_max": 1.05,
        "stall_latency_share_max": 0.05,
        "late_share_max": 0.01,
        "wait_share_max": 0.5,
        "steal_share_max": 0.05,
    },
    "profiles": {
        "smoke": {"rounds": 2, "constants": {"measure_s": 1}},
        "unfinished": {"rounds": 1},
    },
}


@pytest.fixture
def document() -> dict:
    return DOCUMENT
