"""The released YCSB on the embedded testbed, beside kvclient."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Finished, measured, require_valid

pytestmark = pytest.mark.e2e


def run_phases(run: Finished) -> list[dict[str, Any]]:
    """What YCSB said of each, and the statistics of its binding."""
    files = run.directory.glob("raw/*/r*/i*/a*/client0*.json")
    answers = [answer for file in files for answer in json.loads(file.read_bytes())["answers"]]
    asked = ("ycsbclient", "stats")
    return [a["result"]["run"] for a in answers if (a["node"], a["command"]) == asked]


def operations(said: str, kind: str) -> int:
    (count,) = re.findall(rf"^\[{kind}\], Return=OK, (\d+)$", said, re.MULTILINE)
    return int(count)


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
    stock = rows["ycsb", "10x100"]
    assert float(stock["switch_ops_per_s"]) == 0
    assert float(rows["ycsb", "1x128"]["switch_ops_per_s"]) > 0
    (phase,) = (phase for phase in run_phases(run) if "never cacheable" in phase["said"])
    reads, updates = (operations(phase["said"], kind) for kind in ("READ", "UPDATE"))
    # An update of one field of ten reads the record and writes it.
    sent = sum(row["requests_total"] for row in phase["statistics"]["partitions"])
    assert sent - phase["statistics"]["retries"] == reads + 2 * updates
    (ran_ms,) = re.findall(r"^\[OVERALL\], RunTime\(ms\), (\d+)$", phase["said"], re.MULTILINE)
    assert float(stock["ycsb_ops_per_s"]) == pytest.approx((reads + updates) * 1000 / int(ran_ms))
