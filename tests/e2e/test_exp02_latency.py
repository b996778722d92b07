"""Latency at a target throughput on the embedded testbed, below saturation and beyond it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import measured, require_valid

pytestmark = [pytest.mark.e2e, pytest.mark.long]


def test_latency_is_an_idle_path_and_the_queue_of_the_load(testbed: Path) -> None:
    run = measured("farreach/exp02_latency", testbed, profile="smoke", target_share="0.5,1.3")
    assert run.status == 0, run.output
    require_valid(run)
    half, beyond = run.rows()
    assert (half["state"], beyond["state"]) == ("steady", "saturated")
    # Two windows of 1,000 requests at the bottleneck's server: its mean wait of 0.5 ms has a
    # standard error of a tenth, and a busy machine makes it longer.
    assert 300 < float(half["wait_us"]) < 1000
    assert float(half["predicted_wait_us"]) == pytest.approx(500)
    assert float(half["delivered_share"]) == pytest.approx(1, abs=0.02)
    # It delivers what servers can: their maximum is 1 / 1.3 of what was offered.
    assert float(beyond["delivered_share"]) == pytest.approx(1 / 1.3, rel=0.1)
