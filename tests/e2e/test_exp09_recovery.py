"""A switch and its servers are killed after each measurement of a run, and recovered."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import measured, require_valid

pytestmark = [pytest.mark.e2e, pytest.mark.long]


def test_switch_and_servers_are_recovered_after_each_iteration(testbed: Path) -> None:
    run = measured("farreach/exp09_recovery", testbed, profile="smoke", cache_size=1000)
    assert run.status == 0, run.output
    (row,) = run.rows()
    require_valid(run)
    assert row["iterations_ok"] == "2"
    for column in ("recovery_s", "server_replay_s", "switch_replay_s"):
        assert float(row[column]) > 0, column
    assert float(row["switch_replay_records_per_s"]) > 0
    assert "Recoveries" in run.output
