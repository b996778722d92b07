"""What goes wrong during a night: each fault costs what it must and no more, and is told as what
it is. docs/troubleshooting.md has the table.
"""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from turntable_testbed import fingerprint

from .conftest import (
    REPOSITORY,
    TESTBED_ID,
    Finished,
    came_too_late,
    counts,
    playbook,
    started,
)
from .faults import (
    LEASE_S,
    SHORT,
    Clock,
    is_clean,
    killed,
    measuring,
    small_disk,
    statuses,
    wait_until,
    without_namespace,
    write_experiment,
)

pytestmark = pytest.mark.e2e

# Generous: a killed playbook's supervisors end their nodes within seconds after the lease.
ENDING_S = 60
# Until something comes that comes soon, unless it never does.
PATIENCE_S = 300


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A playbook whose deadlines a test can wait for."""
    return write_experiment(tmp_path_factory.mktemp("short"))


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Clock:
    return Clock(tmp_path_factory.mktemp("clock"), "client1")


def run_directory(results: Path, run: str) -> Path:
    return results / "farreach_exp01_throughput" / run


def journal_of(directory: Path) -> list[dict]:
    """What follows the last newline is a torn line, which counts for nothing."""
    lines = (directory / "journal.ndjson").read_text().split("\n")[:-1]
    return [json.loads(line) for line in lines]


def rows_of(directory: Path) -> list[dict[str, str]]:
    with (directory / "summary.csv").open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def successes(attempts: list[dict]) -> Counter:
    """How often each iteration was measured, without attempts that the machine disturbed."""
    return Counter(attempt["iteration"] for attempt in attempts if counts(attempt))


# Faults that cost one attempt.

FAULTS = {
    "killed kvserver": ("node_lost", "host server0, node kvserver"),
    "killed kvclient": ("node_lost", "host client0, node kvclient"),
    "killed softswitch": ("node_lost", "host switch0, node softswitch"),
    "killed supervisor": ("node_lost", "host server1, node"),
    "killed lock": ("node_lost", "host switch0, node"),
    "hung node": ("timeout", "host server0, node kvserver"),
    "unreachable host": ("unreachable", "host client1: network namespace"),
    "clock that jumps": ("command_error", "host client1, node kvclient, command start"),
}


@dataclass(frozen=True)
class Night:
    finished: Finished
    directory: Path
    attempts: list[dict]
    clean: bool

    @property
    def failures(self) -> dict[str, dict]:
        """Fault -> the attempt it cost."""
        failed = [attempt for attempt in self.attempts if attempt["status"] == "failed"]
        assert len(failed) == len(FAULTS), self.finished.output
        return dict(zip(FAULTS, failed, strict=True))


@pytest.fixture(scope="module")
def night(testbed: Path, experiment: str, clock: Clock) -> Night:
    """One run that meets a fault in every second attempt."""
    causes = {
        "killed kvserver": lambda: killed("server0", "kvserver"),
        "killed kvclient": lambda: killed("client0", "kvclient"),
        "killed softswitch": lambda: killed("switch0", "softswitch"),
        "killed supervisor": lambda: killed("server1", "supervisor"),
        "killed lock": lambda: killed("switch0", "supervisor"),
        "hung node": lambda: killed("server0", "kvserver", signal.SIGSTOP),
        "unreachable host": lambda: without_namespace("client1"),
        "clock that jumps": lambda: clock.jumps(3600),
    }
    before = fingerprint.take(TESTBED_ID)
    directory = run_directory(testbed, "night")
    arguments = SHORT | clock.variables | {"servers": 16, "run": "night"}
    with started(experiment, testbed, **arguments) as running:
        for number, name in enumerate(FAULTS, start=1):
            wait_until(lambda: measuring(directory), running, PATIENCE_S)
            undo = causes[name]()
            try:
                wait_until(
                    lambda number=number: statuses(directory).count("failed") == number,
                    running,
                    PATIENCE_S,
                )
            finally:
                undo()
        finished = running.finished()
    return Night(finished, directory, journal_of(directory), is_clean(before))


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_one_attempt_of_its_class(night: Night, fault: str) -> None:
    failure_class, message = FAULTS[fault]
    attempt = night.failures[fault]
    assert (attempt["failure_class"], attempt["attempt"]) == (failure_class, 1), attempt["message"]
    assert message in attempt["message"]
    assert attempt["message"].splitlines()[0] in night.finished.output


@pytest.mark.long
def test_a_night_of_faults_loses_nothing(night: Night) -> None:
    assert night.finished.status == 0, night.finished.output
    assert successes(night.attempts) == dict.fromkeys(range(16), 1)
    (row,) = rows_of(night.directory)
    assert (row["iterations_ok"], row["iterations_failed"]) == ("16", str(len(FAULTS)))
    assert night.clean


@pytest.mark.long
def test_logs_of_every_host_are_kept(night: Night) -> None:
    assert f"Logs of all hosts: {night.directory / 'logs.tar.gz'}" in night.finished.output
    with tarfile.open(night.directory / "logs.tar.gz") as bundle:
        names = bundle.getnames()
    first = night.failures["killed kvserver"]
    where = f"night/{first['cell']}-r0-i{first['iteration']}-a1"
    assert {f"{where}/client0/kvclient.log", f"{where}/server0/kvserver.log"} <= set(names)
    assert f"{where}/journal.ndjson" in names


# Interruptions: the run ends, and is continued.


@dataclass(frozen=True)
class Interruption:
    status: int
    output: str
    before: list[dict]  # the journal then
    left: set[str]  # of secret and owner.json in the run's directory


@dataclass(frozen=True)
class Interrupted:
    interruptions: dict[str, Interruption]
    finished: Finished
    attempts: list[dict]


@pytest.fixture(scope="module")
def interrupted(testbed: Path, experiment: str) -> Interrupted:
    """One run, continued after each of three interruptions."""
    before = fingerprint.take(TESTBED_ID)
    directory = run_directory(testbed, "interrupted")
    arguments = SHORT | {"servers": 8, "run": "interrupted"}
    interruptions = {}
    for name in ("SIGINT", "SIGTERM", "SIGKILL"):
        measured = statuses(directory).count("ok")
        with started(experiment, testbed, **arguments) as running:
            wait_until(lambda n=measured: measuring(directory, n + 1), running, PATIENCE_S)
            if name == "SIGTERM":
                running.terminate()
            else:
                running.kill(signal.Signals[name])
            ended = running.finished()
        wait_until(lambda: is_clean(before), None, LEASE_S + ENDING_S)
        left = {path.name for path in directory.iterdir()} & {"secret", "owner.json"}
        interruptions[name] = Interruption(ended.status, ended.output, journal_of(directory), left)
    with (directory / "journal.ndjson").open("a") as journal:
        journal.write('{"cell": "0123456789ab", "round": 0, "itera')  # as a crash leaves it
    finished = playbook(experiment, testbed, **arguments)
    return Interrupted(interruptions, finished, journal_of(directory))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_an_interrupted_run_ends_with_an_error_and_keeps_what_it_has(
    interrupted: Interrupted, name: str
) -> None:
    interruption = interrupted.interruptions[name]
    assert interruption.status != 0
    if name != "SIGKILL":
        assert interruption.left == set(), "a secret is there while a playbook works on the run"
        assert "to continue it: ansible-playbook" in interruption.output
    kept = interrupted.attempts[: len(interruption.before)]
    assert kept == interruption.before, "the journal is append-only"


def test_a_continued_run_measures_only_what_is_missing(interrupted: Interrupted) -> None:
    assert interrupted.finished.status == 0, interrupted.finished.output
    assert successes(interrupted.attempts) == dict.fromkeys(range(8), 1)
    (row,) = interrupted.finished.rows()
    failed = [attempt for attempt in interrupted.attempts if attempt["status"] == "failed"]
    assert all(came_too_late(attempt) for attempt in failed), failed
    assert (row["iterations_ok"], row["iterations_failed"]) == ("8", str(len(failed)))


@dataclass(frozen=True)
class Held:
    second: Finished  # a run, while another had the testbed
    doctor: Finished  # asked meanwhile
    healthy: Finished  # the doctor, when the holder was killed and its lease over
    clean: bool


@pytest.fixture(scope="module")
def held(testbed: Path, experiment: str) -> Held:
    """A run in the midst of a long measurement, killed there."""
    before = fingerprint.take(TESTBED_ID)
    arguments = SHORT | {"servers": 2, "measure_s": 300, "run": "holder"}
    with started(experiment, testbed, **arguments) as running:
        wait_until(lambda: measuring(run_directory(testbed, "holder")), running, PATIENCE_S)
        second = playbook(experiment, testbed, **SHORT, servers=2, run="second")
        doctor = playbook("doctor", testbed)
        running.kill()
        running.finished()
    wait_until(lambda: is_clean(before), None, LEASE_S + ENDING_S)
    return Held(second, doctor, playbook("doctor", testbed), is_clean(before))


def test_a_second_run_is_told_who_has_the_testbed(held: Held, testbed: Path) -> None:
    assert held.second.status != 0
    assert "in use by" in held.second.output
    assert "run holder" in held.second.output
    assert not run_directory(testbed, "second").exists()


def test_the_doctor_tells_whether_a_run_can_start(held: Held) -> None:
    assert held.doctor.status != 0
    assert "A run cannot start now: lock" in held.doctor.output
    assert "held by run holder" in held.doctor.output
    assert held.healthy.status == 0, held.healthy.output
    assert "A run can start now" in held.healthy.output


def test_a_run_killed_in_a_long_measurement_leaves_nothing_after_the_lease(held: Held) -> None:
    assert held.clean


# Faults of the machine, before and during a run.


def test_a_full_disk_for_results_ends_the_run_which_is_continued(
    testbed: Path, experiment: str, tmp_path: Path
) -> None:
    arguments = SHORT | {"servers": 4, "run": "full"}
    with small_disk(tmp_path, "112k") as resize:
        full = playbook(experiment, tmp_path, **arguments)
        assert full.status != 0
        assert "No space left on device" in full.output
        assert "-e run=full" in full.output
        resize("50m")
        before = journal_of(run_directory(tmp_path, "full"))
        assert 0 < len(successes(before)) < 4, full.output
        again = playbook(experiment, tmp_path, **arguments)
        assert again.status == 0, again.output
        assert successes(again.journal()) == dict.fromkeys(range(4), 1)


def test_a_full_disk_for_stores_ends_the_run_which_is_continued(
    testbed: Path, experiment: str, tmp_path: Path
) -> None:
    state = tmp_path / "state" / TESTBED_ID
    # long: otherwise the run does not even begin.
    arguments = SHORT | {"servers": 4, "run": "stores", "turntable_state_root": str(state)}
    arguments |= {"long": True}
    with small_disk(state, "1m") as resize:
        full = playbook(experiment, testbed, **arguments)
        assert full.status != 0
        assert "host server" in full.output
        assert "No space left on device" in full.output
        assert "logs.tar.gz" in full.output
        resize("1g")
        again = playbook(experiment, testbed, **arguments)
        assert again.status == 0, again.output
        assert successes(again.journal()) == dict.fromkeys(range(4), 1)


def test_a_wrong_clock_is_found_before_anything_is_measured(
    testbed: Path, experiment: str, clock: Clock
) -> None:
    undo = clock.jumps(-5)
    try:
        refused = playbook(
            experiment, testbed, **SHORT, **clock.variables, servers=4, run="wrong-clock"
        )
        doctor = playbook("doctor", testbed, **clock.variables)
    finally:
        undo()
    assert refused.status != 0
    assert "host client1: its clock is" in refused.output
    assert not run_directory(testbed, "wrong-clock").exists()
    assert doctor.status != 0
    assert "s behind the controller" in doctor.output


@pytest.fixture
def damaged(night: Night) -> Iterator[Path]:
    """A raw file that lost a digit."""
    attempt = next(attempt for attempt in night.attempts if attempt["status"] == "ok")
    where = f"raw/{attempt['cell']}/r0/i{attempt['iteration']}/a{attempt['attempt']}"
    path = night.directory / where / "server0.json"
    whole = path.read_text()
    path.write_text(whole.replace("1", "2", 1))
    yield path
    path.write_text(whole)


@pytest.mark.long
def test_a_damaged_raw_file_is_not_used(night: Night, damaged: Path) -> None:
    command = [sys.executable, "-m", "turntable", "summarize", str(night.directory)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    (row,) = rows_of(night.directory)
    assert row["verdict"].startswith("invalid")
    assert damaged.name in row["verdict"] + done.stdout + done.stderr
    assert row["iterations_ok"] == "15"
