"""Values that no slot of the switch holds: every method leaves them to the servers, as planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import measured, require_valid

pytestmark = [pytest.mark.e2e, pytest.mark.long]


def test_values_of_256_bytes_are_the_servers_with_every_method(testbed: Path) -> None:
    run = measured("farreach/exp06_value_size", testbed, profile="smoke", value_bytes=256)
    assert run.status == 0, run.output
    rows = run.rows()
    assert [row["method"] for row in rows] == ["farreach", "netcache", "nocache"]
    require_valid(run)
    for row in rows:
        assert float(row["switch_ops_per_s"]) == 0
        assert row["trace_normalized"] == rows[-1]["trace_normalized"]
        # 5,000 operations of the bottleneck: a standard error of about 1.4 %.
        normalized, trace = float(row["normalized_throughput"]), float(row["trace_normalized"])
        assert normalized == pytest.approx(trace, rel=0.06)
    assert "FarReach's gain" in run.output
