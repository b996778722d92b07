"""The released YCSB on the embedded testbed, beside kvclient."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import measured, require_valid

pytestmark = pytest.mark.e2e


def test_ycsb_and_kvclient_measure_the_same(testbed: Path) -> None:
    run = measured("farreach/ycsb", testbed, profile="smoke", workload="a", ycsb_threads=16)
    assert run.status == 0, run.output
    require_valid(run)
    rows = {(row["client"], row["record"]): row for row in run.rows()}
    assert "YCSB beside kvclient" in run.output
    for record in ("1x128", "10x100"):
        by_ycsb, by_kvclient = rows["ycsb", record], rows["kvclient", record]
        assert by_ycsb["ycsb_failed"] == "0"
        ratio = float(by_ycsb["aggregate_ops_per_s"]) / float(by_kvclient["aggregate_ops_per_s"])
        assert ratio == pytest.approx(1, abs=0.1)
    # Half of workload A are updates, and one of a field of ten is two requests.
    stock = rows["ycsb", "10x100"]
    requests = float(stock["aggregate_ops_per_s"])
    assert float(stock["ycsb_ops_per_s"]) == pytest.approx(requests / 1.5, rel=0.15)
    assert float(stock["switch_ops_per_s"]) == 0
    assert float(rows["ycsb", "1x128"]["switch_ops_per_s"]) > 0
