"""A recorded trace as the workload: planned, loaded, replayed and predicted as its lines say."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_traces import expected, made_up, write_csv

from .conftest import measured, playbook, require_valid

pytestmark = [pytest.mark.e2e, pytest.mark.long]

SERVERS, CACHED, REQUESTS = 2, 20, 1000


def test_methods_reach_what_the_lines_allow(testbed: Path, tmp_path: Path) -> None:
    lines = made_up(REQUESTS)
    run = measured(
        "farreach/exp04_write_ratio",  # its workloads are replaced by the trace
        testbed,
        profile="smoke",
        trace=str(write_csv(lines, tmp_path / "trace.csv")),
        cache_size=CACHED,
        capacity_ops_per_s=2000,  # of five requests the switch answers four: 20,000 a second
        clients=32,
        measure_s=3,
    )
    assert run.status == 0, run.output
    rows = run.rows()
    assert [row["method"] for row in rows] == ["farreach", "netcache", "nocache"]
    require_valid(run)
    truth = expected(lines, SERVERS, CACHED)
    absorbed = {"farreach": truth.hits, "netcache": truth.read_hits, "nocache": [0] * SERVERS}
    for row in rows:
        assert row["workload"] == "trace:trace.csv"
        hits = absorbed[row["method"]]
        left = [all_ - hit for all_, hit in zip(truth.requests, hits, strict=True)]
        normalized, reached = REQUESTS / max(left), float(row["normalized_throughput"])
        assert float(row["predicted_normalized"]) == pytest.approx(normalized, rel=1e-4)
        # 6,000 operations of the bottleneck, which has every request more than five times in them:
        # rules have compared the shares of the switch and of partitions with the trace's.
        assert row["not_checked"] == ""
        if row["method"] != "netcache":  # there the model of value updates says more
            assert float(row["trace_normalized"]) == pytest.approx(normalized, rel=1e-4)
            assert reached == pytest.approx(normalized, rel=0.06)
    assert "not cacheable" in run.output


def test_what_is_no_trace_is_named_before_anything_starts(testbed: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("a,get,8\nb,incr,8\n")
    run = playbook("farreach/exp01_throughput", testbed, profile="smoke", trace=str(bad))
    assert run.status != 0
    assert f"{bad}:2: operation" in run.output
    assert "Start the nodes" not in run.output
