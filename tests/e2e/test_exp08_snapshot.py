"""What snapshots send over the control network, and what they cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import measured

pytestmark = [pytest.mark.e2e, pytest.mark.long]

# Of 10,000 keys: a record of 151 bytes to the controller, and 23 to each of two client hosts.
RECORDS_MIB = 10_000 * (151 + 2 * 23) / 2**20


def test_bandwidth_is_what_a_snapshot_holds_by_its_period(testbed: Path) -> None:
    run = measured("farreach/exp08_snapshot", testbed, profile="smoke")
    assert run.status == 0, run.output
    without, with_snapshots = run.rows()
    assert 0 < float(without["bandwidth_mib_per_s"]) < 0.1
    assert without["snapshot_mib"] == ""
    # Keys on their way have no record, and CASE1 comes on top: once for each key at most.
    mib = float(with_snapshots["snapshot_mib"])
    assert 0.95 * RECORDS_MIB < mib < RECORDS_MIB + 10_000 * 184 / 2**20
    others = float(with_snapshots["bandwidth_mib_per_s"]) - mib / 2.5
    assert 0 < others < 0.1
    assert "Control plane" in run.output


def test_cost_of_snapshots_is_measured_where_all_are_hits(testbed: Path) -> None:
    run = measured("farreach/snapshot_cost", testbed, profile="smoke")
    assert run.status == 0, run.output
    for row in run.rows():
        assert float(row["hits_per_s"]) > 10_000
        assert float(row["server_ops_per_s"]) < 100
        for column in ("switch_ns_per_op", "client_ns_per_op", "hit_latency_p999_us"):
            assert float(row[column]) > 0, column
        assert "bottleneck" not in row["verdict"]
    assert "answers everything" in run.output
