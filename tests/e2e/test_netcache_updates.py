"""Methods with a cache on the embedded testbed, by the experiment that compares them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import measured, require_valid

pytestmark = [pytest.mark.e2e, pytest.mark.long]


def test_farreach_and_netcache_are_valid_and_as_their_traces_say(testbed: Path) -> None:
    run = measured(
        "farreach/netcache_updates",
        testbed,
        profile="smoke",
        workload="workloada",
        value_update_delay_us=460,
        measure_s=1,
    )
    assert run.status == 0, run.output
    rows = run.rows()
    assert [row["method"] for row in rows] == ["farreach", "netcache"]
    require_valid(run)
    for row in rows:
        # 1,000 operations of the bottleneck: a standard error of about 3 %.
        normalized, trace = float(row["normalized_throughput"]), float(row["trace_normalized"])
        assert normalized == pytest.approx(trace, rel=0.12)
        assert float(row["switch_ops_per_s"]) > 0
    assert float(rows[1]["update_round_trip_us"]) > 460
