"""Systems from plan to notebook that nothing but tests/toys/ knows (docs/add-a-system.md)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turntable_core.ownership import run_claim
from turntable_core.ownership.owner import new_owner
from turntable_testbed import fingerprint

from .conftest import (
    BUILD,
    REPOSITORY,
    TRIES,
    Finished,
    Running,
    came_too_late,
    counts,
    playbook,
    started,
)
from .faults import LEASE_S, measuring, wait_until

pytestmark = pytest.mark.e2e

TOYS = REPOSITORY / "tests/toys"
SWEEP = str(TOYS / "playbooks/echo/sweep")
INVENTORY = "embedded-hosts"
ALL = str(TOYS / "playbooks/echo/all")
STEADY = str(TOYS / "playbooks/echo/steady")
SLOWDOWN = str(TOYS / "playbooks/echo/slowdown")
SECOND = str(TOYS / "playbooks/pingpong/connections")
PROGRAMS = (
    "nodectl",
    "supervisor",
    "echo-server",
    "echo-client",
    "pingpong-server",
    "pingpong-client",
)

# Beside the testbed of the other tests here.
TESTBED_ID = f"y{os.getpid() % 100000:05d}"
TESTBED = {
    "turntable_testbed_id": TESTBED_ID,
    "turntable_data_network": f"198.18.{128 + os.getpid() % 64}.0/24",
    "turntable_control_network": f"198.19.{128 + os.getpid() % 64}.0/24",
    "turntable_lease_s": LEASE_S,
}
LOADS = ["500", "1000", "2000"]
# Until something comes that comes soon, unless it never does.
PATIENCE_S = 300

# Reasons that a busy machine may give.
SLOW_MACHINE = (
    "of the offered load was delivered",
    "requests stayed unanswered",
    "sockets dropped packets",
    "clients started late",
    "the client sent late",
    "the client waited for a processor",
    "processors of a host were stolen",
)


@pytest.fixture(scope="module", autouse=True)
def _toys_are_known() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TURNTABLE_SYSTEMS", "tests/toys")
        yield


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory for results of a testbed without a switch."""
    if os.geteuid() != 0:
        pytest.skip("end-to-end tests make network namespaces: run them as root")
    missing = [name for name in PROGRAMS if not (BUILD / "bin" / name).exists()]
    if missing:
        pytest.skip(f"{BUILD}/bin lacks {', '.join(missing)}: run `make build` first")
    results = tmp_path_factory.mktemp("results")
    before = fingerprint.take(TESTBED_ID)
    up = playbook("testbed_up", results, INVENTORY, **TESTBED)
    assert up.status == 0, up.output
    yield results
    down = playbook("testbed_down", results, INVENTORY, purge=True, **TESTBED)
    assert down.status == 0, down.output
    assert fingerprint.take(TESTBED_ID) == before


def is_disturbed(run: Finished) -> bool:
    """By the machine: every reason is one that it may give."""
    invalid = [row["verdict"] for row in run.rows() if row["verdict"] != "valid"]
    reasons = [reason for verdict in invalid for reason in verdict[9:].split("; ")]
    return bool(reasons) and all(any(slow in reason for slow in SLOW_MACHINE) for reason in reasons)


def swept(results: Path, **extra_vars: object) -> Finished:
    return playbook(
        SWEEP,
        results,
        INVENTORY,
        profile="smoke",
        fail_on_invalid=False,
        **TESTBED,
        **extra_vars,
    )


def succeeded(run: Finished) -> list[str]:
    """Cells in the order in which they were measured."""
    return [attempt["cell"] for attempt in run.journal() if counts(attempt)]


@pytest.fixture(scope="module")
def resumed(hosts: Path) -> Finished:
    """Killed in its second load, then continued."""
    for number in range(TRIES):
        name = f"night{number}"
        arguments = {"profile": "smoke", "run": name, **TESTBED}
        with started(SWEEP, hosts, INVENTORY, **arguments) as running:
            run = hosts / "echo_sweep" / name
            wait_until(lambda run=run: measuring(run, after=1), running, PATIENCE_S)
            running.kill(signal.SIGKILL)
            running.finished()
        finished = swept(hosts, run=name)
        if finished.status != 0 or not is_disturbed(finished):
            break
    return finished


def test_check_shows_plan_and_prediction(hosts: Path, tmp_path: Path) -> None:
    checked = playbook(SWEEP, tmp_path, INVENTORY, check=True, profile="smoke", **TESTBED)
    assert checked.status == 0, checked.output
    assert "3 cell(s) x 1 round(s), 3 of 3 iterations to measure" in checked.output
    assert "offered/s" in checked.output
    assert list(tmp_path.iterdir()) == []


def test_another_inventory_is_refused_and_the_right_one_named(tmp_path: Path) -> None:
    refused = playbook(SWEEP, tmp_path, "embedded", check=True, profile="smoke")
    assert refused.status != 0
    assert f"-i inventories/{INVENTORY}" in refused.output


def test_unknown_parameters_are_refused(tmp_path: Path) -> None:
    refused = playbook(SWEEP, tmp_path, INVENTORY, check=True, rate_per_second=5, **TESTBED)
    assert refused.status != 0
    assert "did you mean 'rate_per_s'" in " ".join(refused.output.split())


def test_a_killed_run_is_continued_and_nothing_is_measured_twice(resumed: Finished) -> None:
    assert resumed.status == 0, resumed.output
    assert "continued: 2 of 3 iterations to measure" in resumed.output
    assert len(succeeded(resumed)) == len(set(succeeded(resumed))) == len(LOADS)
    failed = [attempt for attempt in resumed.journal() if attempt["status"] == "failed"]
    assert all(came_too_late(attempt) for attempt in failed), failed


def test_every_load_is_delivered(resumed: Finished) -> None:
    assert [row["rate_per_s"] for row in resumed.rows()] == LOADS
    for row in resumed.rows():
        assert row["verdict"] == "valid", row["verdict"]
        assert row["system"] == "echo"
        offered, delivered = float(row["offered_per_s"]), float(row["delivered_per_s"])
        # Poisson arrivals of two seconds: five standard deviations.
        assert offered == pytest.approx(int(row["rate_per_s"]), abs=5 * (offered / 2) ** 0.5)
        assert delivered == pytest.approx(offered, rel=0.01)
        assert 0 < float(row["latency_p50_us"]) <= float(row["latency_p99_us"])


def test_tables_report_and_notebook_come_from_raw_files_alone(resumed: Finished) -> None:
    tables = {
        name: (resumed.directory / name).read_bytes() for name in ("summary.csv", "cells.csv")
    }
    for name in (*tables, "report.html"):
        (resumed.directory / name).unlink()
    command = [sys.executable, "-m", "turntable", "notebook", str(resumed.directory)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {name: (resumed.directory / name).read_bytes() for name in tables} == tables
    report = (resumed.directory / "report.html").read_text(encoding="utf-8")
    assert 'aria-label="At 2000 requests/s p99 is' in report
    notebook = (resumed.directory / "notebook.html").read_text(encoding="utf-8")
    assert "At 2000 requests/s p99 is" in notebook
    assert "delivered_per_s" in notebook


def test_a_server_that_is_too_slow_makes_a_run_invalid(hosts: Path) -> None:
    slow = swept(hosts, rate_per_s=1000, capacity_per_s=400)
    assert slow.status == 0, slow.output
    (row,) = slow.rows()
    assert row["verdict"].startswith("invalid: ")
    assert "of the offered load was delivered (at least 99%)" in row["verdict"]
    assert 0 < float(row["delivered_per_s"]) < 400 * 1.1


def test_a_server_that_dies_leaves_a_gap_and_no_zero(hosts: Path) -> None:
    arguments = {"profile": "smoke", "run": "dead", "rate_per_s": "500,1000", "max_attempts": 1}
    with started(SWEEP, hosts, INVENTORY, fail_on_invalid=False, **arguments, **TESTBED) as running:
        run = hosts / "echo_sweep" / "dead"
        wait_until(lambda: any(run.glob("raw/*/r0/i0/a1/*.begin.json")), running, PATIENCE_S)
        os.kill(_pid_of_node("server0", "echo-server"), signal.SIGKILL)
        finished = running.finished()
    assert finished.status == 0, finished.output
    (failed,) = (attempt for attempt in finished.journal() if attempt["status"] == "failed")
    assert (failed["failure_class"], failed["iteration"]) == ("node_lost", 0)
    dead, alive = finished.rows()
    assert dead["verdict"].startswith("invalid: 1 of 1 iterations are missing")
    assert dead["delivered_per_s"] == dead["latency_p99_us"] == ""
    assert alive["iterations_ok"] == "1"


def test_the_second_toy_goes_the_whole_path_too(hosts: Path) -> None:
    for _ in range(TRIES):
        run = playbook(SECOND, hosts, INVENTORY, profile="smoke", fail_on_invalid=False, **TESTBED)
        if run.status != 0 or not is_disturbed(run):
            break
    assert run.status == 0, run.output
    assert [row["connections"] for row in run.rows()] == ["1", "4", "16"]
    for row in run.rows():
        assert row["verdict"] == "valid", row["verdict"]
        trips_per_s, median_s = float(row["trips_per_s"]), float(row["latency_p50_us"]) / 1e6
        # Little's law: on each connection one message is under way, so rate x mean is at most their
        # number. A median is at most twice the mean (Markov).
        assert 0 < trips_per_s * median_s <= 2 * int(row["connections"])
    assert "trips_per_s" in (run.directory / "cells.csv").read_text()
    assert "round trips/s" in (run.directory / "report.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_timeline_makes_the_server_slow_for_a_while(hosts: Path) -> None:
    for _ in range(TRIES):
        run = playbook(
            SLOWDOWN, hosts, INVENTORY, profile="smoke", fail_on_invalid=False, **TESTBED
        )
        if run.status != 0 or not is_disturbed(run):
            break
    assert run.status == 0, run.output
    (row,) = run.rows()
    assert row["verdict"] == "valid", row["verdict"]
    # For half a second 400 of 1000 requests/s must wait. At its end they are 200, and the oldest of
    # them has waited for 0.2 s.
    assert float(row["latency_p99_us"]) > 100_000
    report = (run.directory / "report.html").read_text(encoding="utf-8")
    assert "capacity 600" in report
    assert "capacity 0" in report


def test_what_another_experiment_has_measured_is_taken_over(hosts: Path, resumed: Finished) -> None:
    """The experiment with one load has the cell of 1000 requests/s and, given 500, that one too."""
    name = resumed.directory.name
    shared = {"profile": "smoke", "run": name, "share_rounds": True, "fail_on_invalid": False}
    run = playbook(STEADY, hosts, INVENTORY, **shared, rate_per_s="1000,1500", **TESTBED)
    assert run.status == 0, run.output
    assert "1 of 2 iterations to measure" in run.output
    assert "taken over from echo_sweep: 1000 requests/s" in run.output
    taken, measured = run.journal()[:2]
    assert taken["taken_from"].startswith(f"echo_sweep/{name}/raw/")
    assert measured["taken_from"] is None
    row, _ = run.rows()
    (there,) = (row for row in resumed.rows() if row["rate_per_s"] == "1000")
    assert row["taken_from"] == f"echo_sweep/{name}"
    assert {**row, "experiment": "", "taken_from": ""} == {**there, "experiment": ""}


def all_of(results: Path, name: str) -> Running:
    return started(ALL, results, INVENTORY, profile="smoke", run=name, **TESTBED)


@pytest.mark.long
def test_a_series_killed_twice_goes_on_and_measures_nothing_twice(hosts: Path) -> None:
    """Ended in order in its first experiment, killed in its last one."""
    name = "series"
    sweep, last = hosts / "echo_sweep" / name, hosts / "pingpong_connections" / name
    with all_of(hosts, name) as running:
        wait_until(lambda: measuring(sweep, after=1), running, PATIENCE_S)
        running.terminate()
        ended = running.finished()
    assert (
        "the series of experiments has not ended; to continue it: ansible-playbook" in ended.output
    )
    command = ended.output.partition("to continue it: ")[2]
    assert "tests/toys/playbooks/echo/all.yml" in command
    assert f"-e run={name}" in command
    with all_of(hosts, name) as running:
        wait_until(lambda: measuring(last, after=1), running, PATIENCE_S)
        running.kill(signal.SIGKILL)
        running.finished()
    with all_of(hosts, name) as running:
        finished = running.finished()
    for directory in (sweep, last):
        keys = [(a["cell"], a["iteration"]) for a in _journal(directory) if _counts(a)]
        assert len(keys) == len(set(keys)) == 3, keys
    (shared,) = _journal(hosts / "echo_steady" / name)
    assert shared["taken_from"].startswith(f"echo_sweep/{name}/raw/")
    page = (hosts / "echo_all" / name / "overview.html").read_text(encoding="utf-8")
    assert "../../pingpong_connections/series/report.html" in page
    assert "Useful measuring time / wall time" in page
    disturbed = "not valid" in page
    assert (finished.status != 0) == disturbed, finished.output


@pytest.mark.long
def test_an_experiment_that_fails_does_not_stop_the_others(hosts: Path) -> None:
    """Its run is another playbook's: this process."""
    name = "taken"
    steady = hosts / "echo_steady" / name
    steady.mkdir(parents=True)
    run_claim.claim(steady, new_owner(name, "echo_steady"))
    with all_of(hosts, name) as running:
        finished = running.finished()
    assert finished.status != 0
    listed = finished.output.partition("of the series failed or is invalid")[2]
    assert "echo/steady: failed (" in listed
    assert "this run is being continued by" in listed
    assert len([a for a in _journal(hosts / "pingpong_connections" / name) if _counts(a)]) == 3
    run_claim.drop(steady)
    with all_of(hosts, name) as running:
        again = running.finished()
    assert "echo/steady: failed" not in again.output


def _journal(directory: Path) -> list[dict]:
    return [json.loads(line) for line in (directory / "journal.ndjson").read_text().splitlines()]


def _counts(attempt: dict) -> bool:
    return attempt["status"] == "ok" and not attempt["repeat"]


def _pid_of_node(host: str, node: str) -> int:
    command = [str(BUILD / "bin/nodectl"), "--directory", f"/run/turntable/{TESTBED_ID}/{host}"]
    request = json.dumps([{"node": node, "command": "ping"}])
    done = subprocess.run(command, input=request, capture_output=True, text=True, check=True)
    (answer,) = json.loads(done.stdout)
    return answer["result"]["pid"]
