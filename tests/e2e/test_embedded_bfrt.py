"""The switch driven as a Tofino is: over BF Runtime alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from turntable_testbed import fingerprint

from .conftest import (
    BUILD,
    LIGHT_LOAD,
    measured,
    playbook,
    require_root_and_programs,
    require_valid,
)

pytestmark = pytest.mark.e2e

# Beside the testbeds of the other end-to-end tests.
TESTBED_ID = f"b{os.getpid() % 100000:05d}"
OVER_BFRT = {
    "inventory": "embedded-bfrt",
    "turntable_testbed_id": TESTBED_ID,
    "turntable_data_network": f"198.18.{128 + os.getpid() % 64}.0/24",
    "turntable_control_network": f"198.19.{128 + os.getpid() % 64}.0/24",
}
NOT_MEASURED = ("switch drops", "switch stalls", "switch starved")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory for results of a testbed that is up."""
    require_root_and_programs()
    missing = [
        name for name in ("bfrt-server", "bfrt-driver") if not (BUILD / "bin" / name).exists()
    ]
    if missing:
        pytest.skip(f"{BUILD}/bin lacks {', '.join(missing)}: run `make build` first")
    before = fingerprint.take(TESTBED_ID)
    directory = tmp_path_factory.mktemp("results-over-bfrt")
    up = playbook("testbed_up", directory, **OVER_BFRT)
    assert up.status == 0, up.output
    yield directory
    down = playbook("testbed_down", directory, **OVER_BFRT, purge=True)
    assert down.status == 0, down.output
    assert fingerprint.take(TESTBED_ID) == before


def test_exp01_runs_over_bf_runtime_alone(results: Path) -> None:
    chosen = {"profile": "smoke", "servers": 2, "method": "nocache,farreach"} | LIGHT_LOAD
    run = measured("farreach/exp01_throughput", results, **OVER_BFRT, **chosen)
    assert run.status == 0, run.output
    require_valid(run)
    nocache, farreach = run.rows()
    assert (nocache["method"], farreach["method"]) == ("nocache", "farreach")
    asked = {answer["node"] for answer in run.answers_of("switch0")}
    assert asked == {"bfrt-driver", "switch-agent", "supervisor"}
    for row in (nocache, farreach):
        # What the iterations' traces give, to 6 %: test_exp01_throughput.py says why so much.
        trace = float(row["trace_normalized"])
        assert float(row["normalized_throughput"]) == pytest.approx(trace, rel=0.06)
        assert all(rule in row["not_checked"] for rule in NOT_MEASURED)
    # The program was changed between the two.
    assert float(nocache["switch_ops_per_s"]) == 0
    assert float(farreach["switch_ops_per_s"]) > 0


@pytest.mark.long
def test_live_admission_and_snapshots(results: Path) -> None:
    run = measured("farreach/exp08_snapshot", results, **OVER_BFRT, profile="smoke")
    assert run.status == 0, run.output
    require_valid(run)
    without, with_snapshots = run.rows()
    assert without["snapshot_mib"] == ""
    assert float(with_snapshots["snapshot_mib"]) > 1
    told = [
        answer["result"] for answer in run.answers_of("switch0") if answer["command"] == "stats"
    ]
    admitted = [result["admitted"] for result in told if "admitted" in result]
    # 10,000 keys before each iteration's window, those that get hot in it come on top.
    assert [number > 10_000 for number in sorted(admitted)] == [False, False, True, True]


@pytest.mark.long
def test_netclone_over_bf_runtime(results: Path) -> None:
    run = measured("netclone/minimal", results, **OVER_BFRT, profile="smoke")
    assert run.status == 0, run.output
    require_valid(run)
    noclone, netclone = run.rows()
    assert float(noclone["clone_rate"]) == 0
    # What the replay of the same draws gives.
    assert float(netclone["clone_rate"]) == pytest.approx(
        float(netclone["trace_clone_rate"]), abs=0.02
    )
    assert float(netclone["redundant_share"]) == 0


def test_what_bf_runtime_has_nothing_for_is_refused_before_the_run(results: Path) -> None:
    slow = {"profile": "smoke", "switch_processing_delay_ns": 2000}
    run = playbook("farreach/exp01_throughput", results, check=True, **OVER_BFRT, **slow)
    assert run.status != 0
    assert "switch_processing_delay_ns: 2000 is not accepted; expected 0" in run.output
