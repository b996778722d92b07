"""Experiments on a switch with an SDE, as docs/rack.md has them, on the switch that is none."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import (
    BUILD,
    LIGHT_LOAD,
    REPOSITORY,
    measured,
    playbook,
    require_root_and_programs,
    require_valid,
)

pytestmark = pytest.mark.e2e

RUN = Path("/run/turntable/tr")
# What the inventory says, in place of the testbed of the other end-to-end tests.
FAKE_RACK = {
    "inventory": "fake-rack",
    "turntable_testbed_id": "tr",
    "turntable_data_network": "198.18.7.0/24",
    "turntable_control_network": "198.19.7.0/24",
}
EXPERIMENT = {"profile": "smoke", "servers": 2} | LIGHT_LOAD


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory for results of a rack whose hosts are ready."""
    require_root_and_programs()
    if not (BUILD / "bin" / "bfrt-driver").exists():
        pytest.skip(f"{BUILD}/bin lacks bfrt-driver: run `make build` first")
    if RUN.exists():
        pytest.skip("the testbed of inventories/fake-rack is up; take it down first")
    directory = tmp_path_factory.mktemp("results-of-fake-rack")
    make = [sys.executable, "tests/rack/fake/make.py", str(RUN / "fake")]
    try:
        subprocess.run(make, cwd=REPOSITORY, check=True)
        for name in ("testbed_up", "provision"):
            made = playbook(name, directory, **FAKE_RACK)
            assert made.status == 0, made.output
        yield directory
    finally:
        playbook("switch_stop", directory, **FAKE_RACK)
        down = playbook("testbed_down", directory, **FAKE_RACK, purge=True)
    assert down.status == 0, down.output


def start(program: str, results: Path) -> int:
    """How many things it had to change on the switch."""
    started = playbook("switch", results, **FAKE_RACK, program=program)
    assert started.status == 0, started.output
    recap = re.search(r"^switch0 .*\bchanged=(\d+)", started.output, re.MULTILINE)
    assert recap, started.output
    return int(recap[1])


@pytest.mark.parametrize(
    ("program", "runs"), [("nocache", 1), pytest.param("farreach", 2, marks=pytest.mark.long)]
)
def test_exp01_drives_a_switch_that_is_there(results: Path, program: str, runs: int) -> None:
    """The second run finds a switch that the first has filled."""
    start(program, results)
    for _ in range(runs):
        run = measured(
            "farreach/exp01_throughput", results, **FAKE_RACK, **EXPERIMENT, method=program
        )
        assert run.status == 0, run.output
        require_valid(run)
        (row,) = run.rows()
        # What the iterations' traces give, to 6 %: test_exp01_throughput.py says why so much.
        trace = float(row["trace_normalized"])
        assert float(row["normalized_throughput"]) == pytest.approx(trace, rel=0.06)
        assert (float(row["switch_ops_per_s"]) > 0) == (program == "farreach")
    assert start(program, results) == 0, "a run ends no switch, and sets no port"


def test_another_program_is_named_and_nothing_begun(results: Path) -> None:
    start("farreach", results)
    before = sorted(results.glob("*/*"))
    run = playbook(
        "farreach/exp01_throughput", results, **FAKE_RACK, **EXPERIMENT, method="nocache"
    )
    assert run.status != 0
    assert "runs the P4 program farreach; expected nocache" in " ".join(run.output.split())
    assert sorted(results.glob("*/*")) == before, "no run was begun"
