"""The released YCSB on the embedded testbed, beside kvclient."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ycsb_binding.ycsb import Said

from .conftest import Finished, measured, require_valid

pytestmark = pytest.mark.e2e


def run_phases(run: Finished) -> list[Said]:
    asked = ("ycsbclient", "stats")
    ended = [
        a["result"]["run"] for a in run.answers_of("client0") if (a["node"], a["command"]) == asked
    ]
    return [Said(phase["said"], 0, phase["statistics"]) for phase in ended]


def ratio_of(column: str, one: dict[str, str], other: dict[str, str]) -> float:
    return float(one[column]) / float(other[column])


def test_ycsb_and_kvclient_measure_the_same(testbed: Path) -> None:
    run = measured("farreach/ycsb", testbed, profile="smoke", workload="a", ycsb_threads=16)
    assert run.status == 0, run.output
    require_valid(run)
    rows = {(row["client"], row["record"]): row for row in run.rows()}
    assert "YCSB beside kvclient" in run.output
    for record in ("1x128", "10x100"):
        by_ycsb, by_kvclient = rows["ycsb", record], rows["kvclient", record]
        assert by_ycsb["ycsb_failed"] == "0"
        assert ratio_of("normalized_throughput", by_ycsb, by_kvclient) == pytest.approx(1, abs=0.1)
        # On a slow machine Java does not keep the servers busy.
        if float(by_ycsb["busiest_utilization"]) > 0.95:
            rates = ratio_of("aggregate_ops_per_s", by_ycsb, by_kvclient)
            assert rates == pytest.approx(1, abs=0.1)
    stock = rows["ycsb", "10x100"]
    assert float(stock["switch_ops_per_s"]) == 0
    assert float(rows["ycsb", "1x128"]["switch_ops_per_s"]) > 0
    (phase,) = (phase for phase in run_phases(run) if "never cacheable" in phase.text)
    reads, updates = phase.count("READ"), phase.count("UPDATE")
    assert min(reads, updates) > 0
    # An update of one field of ten reads the record and writes it.
    assert phase.total("requests_total") - phase.statistics["retries"] == reads + 2 * updates
    ran_ms = phase.value("OVERALL", "RunTime(ms)")
    assert float(stock["ycsb_ops_per_s"]) == pytest.approx((reads + updates) * 1000 / ran_ms)
