"""The rack's path on one machine: hosts reached by ssh, programs copied to them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from turntable_testbed import fingerprint

from .conftest import (
    LIGHT_LOAD,
    Finished,
    measured,
    playbook,
    require_root_and_programs,
    require_valid,
    started,
    was_made_again,
)

pytestmark = pytest.mark.e2e

EXPERIMENT = "farreach/exp01_throughput"
BOUNDED = {"profile": "smoke", "servers": 2} | LIGHT_LOAD

# Beside the testbed of the other end-to-end tests.
TESTBED_ID = f"s{os.getpid() % 100000:05d}"
SSH = {
    "inventory": "embedded-ssh",
    "turntable_testbed_id": TESTBED_ID,
    "turntable_data_network": f"198.18.{64 + os.getpid() % 32}.0/24",
    "turntable_control_network": f"198.19.{64 + os.getpid() % 32}.0/24",
}
PROGRAMS = Path("/var/lib/turntable", TESTBED_ID)


def over_ssh(name: str, results: Path, **extra_vars: Any) -> Finished:
    return playbook(name, results, **SSH, **extra_vars)


def changes(output: str) -> dict[str, int]:
    """Host -> the number in Ansible's recap."""
    recap = re.findall(r"^(\w+) +: ok=.*changed=(\d+)", output, re.MULTILINE)
    return {host: int(number) for host, number in recap if host != "localhost"}


def connections() -> list[str]:
    return [text for text in fingerprint.take(TESTBED_ID)["processes"] if "[mux]" in text]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory for results of a testbed that is up and provisioned."""
    require_root_and_programs()
    before = fingerprint.take(TESTBED_ID)
    directory = tmp_path_factory.mktemp("results-over-ssh")
    up = over_ssh("testbed_up", directory)
    assert up.status == 0, up.output
    provisioned = over_ssh("provision", directory)
    assert provisioned.status == 0, provisioned.output
    yield directory
    down = over_ssh("testbed_down", directory, purge=True)
    assert down.status == 0, down.output
    assert fingerprint.take(TESTBED_ID) == before


def test_summary_has_the_structure_of_the_other_transports(results: Path, testbed: Path) -> None:
    far = measured(EXPERIMENT, results, **SSH, **BOUNDED)
    assert far.status == 0, far.output
    near = playbook(EXPERIMENT, testbed, fail_on_invalid=False, **BOUNDED)
    assert near.status == 0, near.output
    assert [list(row) for row in far.rows()] == [list(row) for row in near.rows()]
    factors = ("experiment", "method", "workload", "servers", "round", "predicted_normalized")
    assert [[row[key] for key in factors] for row in far.rows()] == [
        [row[key] for key in factors] for row in near.rows()
    ]
    assert [attempt["cell"] for attempt in far.journal() if not was_made_again(attempt)] == [
        attempt["cell"] for attempt in near.journal() if not was_made_again(attempt)
    ]
    require_valid(far)


def test_only_programs_that_differ_are_copied(results: Path) -> None:
    program = PROGRAMS / "client0/programs/bin/nodectl"
    original = program.read_bytes()
    program.write_bytes(original + b"changed")
    untouched = PROGRAMS / "client0/programs/bin/kvclient"
    before = untouched.stat()
    again = over_ssh("provision", results)
    assert again.status == 0, again.output
    assert changes(again.output) == {
        "client0": 1,
        "client1": 0,
        "server0": 0,
        "server1": 0,
        "switch0": 0,
    }
    assert program.read_bytes() == original
    assert (untouched.stat().st_ino, untouched.stat().st_mtime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
    )


def test_a_killed_playbook_leaves_no_connection_open(results: Path) -> None:
    with started(EXPERIMENT, results, **SSH, **BOUNDED, run="killed") as running:
        running.wait_for_line("iteration 1/2")
        assert connections()
        running.kill()
    # ansible.cfg: ControlPersist=10s; a command that still runs ends before.
    deadline = time.monotonic() + 60
    while connections():
        assert time.monotonic() < deadline, connections()
        time.sleep(0.5)  # waits: interval of a probe with a deadline
