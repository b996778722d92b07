"""memcached beside a job, from plan to report: killed on the way, and continued."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from turntable_testbed import fingerprint

from .conftest import BUILD, Finished, playbook, started
from .faults import LEASE_S, measuring, wait_until

pytestmark = pytest.mark.e2e

INVENTORY = "embedded-hosts"
PROGRAMS = ("nodectl", "supervisor", "mcload-node", "colocator", "pressure")
# Beside the testbeds of the other end-to-end tests.
TESTBED_ID = f"s{os.getpid() % 100000:05d}"
TESTBED = {
    "turntable_testbed_id": TESTBED_ID,
    "turntable_data_network": f"198.18.{64 + os.getpid() % 32}.0/24",
    "turntable_control_network": f"198.19.{64 + os.getpid() % 32}.0/24",
    "turntable_lease_s": LEASE_S,
}
PATIENCE_S = 300
TRIES = 2
# Reasons that a busy machine may give.
SLOW_MACHINE = ("sent late", "waited for a processor", "stolen", "others used", "late", "probe")
UNITS = 2 * 2 + 2  # two jobs at two loads, and a baseline row


def cgroups() -> list[Path]:
    """With the testbed's id in their names; what vanishes meanwhile is nobody's."""
    found = []
    for path, directories, _ in os.walk("/sys/fs/cgroup", onerror=None):
        found += [Path(path) / name for name in directories if TESTBED_ID in name]
    return found


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory for results of a testbed without a switch."""
    if os.geteuid() != 0:
        pytest.skip("end-to-end tests make network namespaces: run them as root")
    missing = [name for name in PROGRAMS if not (BUILD / "bin" / name).exists()]
    if missing:
        pytest.skip(f"{BUILD}/bin lacks {', '.join(missing)}: run `make build` first")
    results = tmp_path_factory.mktemp("results-of-swan")
    before = fingerprint.take(TESTBED_ID)
    up = playbook("testbed_up", results, INVENTORY, **TESTBED)
    assert up.status == 0, up.output
    yield results
    down = playbook("testbed_down", results, INVENTORY, purge=True, **TESTBED)
    assert down.status == 0, down.output
    assert fingerprint.take(TESTBED_ID) == before
    assert cgroups() == []


def is_disturbed(run: Finished) -> bool:
    reasons = [reason for row in run.rows() for reason in row["verdict"][9:].split("; ") if reason]
    return bool(reasons) and all(any(slow in reason for slow in SLOW_MACHINE) for reason in reasons)


@pytest.fixture(scope="module")
def resumed(hosts: Path) -> Finished:
    """Killed in its second unit, while a job runs beside memcached; then continued."""
    for number in range(TRIES):
        arguments = {"profile": "smoke", "run": f"night{number}", "fail_on_invalid": False}
        with started("swan/sensitivity", hosts, INVENTORY, **arguments, **TESTBED) as running:
            run = hosts / "swan_sensitivity" / f"night{number}"
            wait_until(lambda run=run: measuring(run, after=3), running, PATIENCE_S)
            running.kill(signal.SIGKILL)
            running.finished()
        finished = playbook("swan/sensitivity", hosts, INVENTORY, **arguments, **TESTBED)
        if finished.status != 0 or not is_disturbed(finished):
            break
    return finished


def test_a_killed_run_is_continued(resumed: Finished) -> None:
    assert resumed.status == 0, resumed.output
    (row,) = resumed.rows()
    assert row["verdict"] == "valid" or is_disturbed(resumed), row["verdict"]
    assert int(row["iterations_ok"]) == UNITS
    measured = [attempt for attempt in resumed.journal() if attempt["status"] == "ok"]
    assert len({attempt["iteration"] for attempt in measured}) == UNITS


def test_nothing_is_left_of_memcached_jobs_and_cgroups(resumed: Finished) -> None:
    assert resumed.status == 0, resumed.output
    assert fingerprint.take(TESTBED_ID)["processes"] == []
    assert cgroups() == []


def test_the_table_has_a_row_of_each(resumed: Finished) -> None:
    """Each with a value at both loads: the preview has the names alone."""
    field = r"≈?(?:>?\d+%|FAIL|N/A)!?\*?"
    for name in ("Baseline", "placebo", "stress-ng-cache-l3"):
        assert re.search(rf"^ *{name} +{field} +{field} *$", resumed.output, re.MULTILINE), name


@pytest.mark.skipif(
    Path("/sys/fs/resctrl/info/MB").exists(), reason="this machine can limit the bandwidth"
)
def test_a_mechanism_that_the_machine_lacks_is_not_available_and_the_others_are_measured(
    hosts: Path,
) -> None:
    isolation = {"profile": "smoke", "isolation": "none,mba", "rounds": 2, "repeats": 0}
    for number in range(TRIES):
        arguments = isolation | {"run": f"without{number}"}
        finished = playbook("swan/isolation", hosts, INVENTORY, **arguments, **TESTBED)
        none = [row for row in finished.rows() if row["isolation"] == "none"]
        if finished.status == 0 or any(row["verdict"] == "valid" for row in none):
            break
    (lacking,) = (row for row in finished.rows() if row["isolation"] == "mba")
    assert lacking["verdict"].startswith("not available: ")
    assert "this machine has no MBA: the kernel has no /sys/fs/resctrl" in lacking["verdict"]
    assert [row["round"] for row in none] == ["0", "1"]
    assert all(int(row["iterations_ok"]) > 0 for row in none)
    refused = [attempt for attempt in finished.journal() if attempt["status"] == "refused"]
    assert {attempt["cell"] for attempt in refused} == {lacking["cell"]}
    assert len({attempt["iteration"] for attempt in refused}) == len(refused)  # each once
    page = (finished.directory / "report.html").read_text(encoding="utf-8")
    assert "not available: " in page
    if all(row["verdict"] == "valid" for row in none):
        assert finished.status == 0, finished.output


def test_a_machine_with_two_processors_has_no_core_allocation(hosts: Path) -> None:
    refused = playbook(
        "swan/core_allocation", hosts, INVENTORY, check=True, least_processors=1000, **TESTBED
    )
    assert refused.status != 0
    assert "a machine with 1000 processors or more" in refused.output
