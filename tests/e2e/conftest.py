"""A testbed of its own, brought up once for all end-to-end tests and taken down after them."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from turntable_core.journal import attempt_directory
from turntable_testbed import fingerprint

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
PROGRAMS = (
    "bin/nodectl",
    "bin/supervisor",
    "bin/softswitch",
    "bin/kvserver",
    "bin/kvclient",
    "bin/workload-analyze",
    "lib/p4/nocache.so",
)

# Two checkouts of one machine may be tested at once.
TESTBED_ID = f"e{os.getpid() % 100000:05d}"
TESTBED = {
    "turntable_testbed_id": TESTBED_ID,
    "turntable_data_network": f"198.18.{192 + os.getpid() % 64}.0/24",
    "turntable_control_network": f"198.19.{192 + os.getpid() % 64}.0/24",
    "turntable_build_dir": str(BUILD),
}

A_LINE_PER_ITERATION = {"ANSIBLE_VERBOSITY": "1"}

# Reasons of a verdict (analysis/turntable/rules.py) that say that the machine was too slow or too
# busy to measure, and what may come of that.
SLOW_MACHINE = (
    "servers waited for a processor or their store",
    "clients started late",
    "clients closed the window late",
    "processors of a host were stolen",
    "stalled for longer than the queues last",
    "waited for a processor",
    "stalled, which makes latencies longer",
    "requests were sent late",
    "the idle path was disturbed",
    "slots were held for another time",
    "slots were busy for another time",
    "the switch stood still",
    "the machine held requests up",
    "frames left the switch late",
    "calls began late",
)
CONSEQUENCES = (
    "the servers were not the bottleneck",
    "clients and servers disagree on the rate",
    "no complete snapshot in the window",
    "not as much was delivered as was offered",
)
# Of failed attempts: a command that came after the instant it was about, or after the lease.
TOO_LATE = ("after the common start", "an instant to come", "command renew")
TRIES = 5

# For tests that are not about rates, on testbeds that cost more of the machine: as many operations
# of the busiest server as in the profile `smoke`, at 40 % of its rate. Over BF Runtime a snapshot
# of 10,000 keys, whose cells are read one by one, can take a slow processor longer than a window.
LIGHT_LOAD = {"capacity_ops_per_s": 2000, "warmup_s": 1, "measure_s": 2.5, "cache_size": 2000}


@dataclass(frozen=True)
class Finished:
    """An ended playbook and, if it was a run, what it left."""

    status: int
    output: str
    directory: Path  # of the newest run when it ended; later ones share the directory of results

    def rows(self) -> list[dict[str, str]]:
        with (self.directory / "summary.csv").open(newline="", encoding="utf-8") as lines:
            return list(csv.DictReader(lines))

    def journal(self) -> list[dict]:
        lines = (self.directory / "journal.ndjson").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def answers_of(self, host: str) -> list[dict]:
        """Raw: of the host's nodes, in all phases of the attempts that count."""
        directories = [
            self.directory
            / attempt_directory(
                attempt["cell"], attempt["round"], attempt["iteration"], attempt["attempt"]
            )
            for attempt in self.journal()
            if counts(attempt)
        ]
        files = [file for place in directories for file in place.glob(f"{host}*.json")]
        return [answer for file in files for answer in json.loads(file.read_bytes())["answers"]]

    @property
    def was_disturbed(self) -> bool:
        """It is not valid, and the machine may have been too slow to measure."""
        invalid = [row["verdict"] for row in self.rows() if row["verdict"] != "valid"]
        return bool(invalid) and (
            any(may_be_the_machine(verdict) for verdict in invalid)
            or any(came_too_late(attempt) for attempt in self.journal())
        )


class Running:
    """A playbook that runs in a process group of its own."""

    DEADLINE_S = 900

    def __init__(
        self,
        name: str,
        results: Path,
        extra_vars: dict[str, object],
        inventory: str = "embedded",
        check: bool = False,
    ) -> None:
        variables = json.dumps(TESTBED | {"turntable_results_dir": str(results)} | extra_vars)
        program = Path(sys.executable).with_name("ansible-playbook")
        self._results = results
        self._output: list[str] = []
        self._process = subprocess.Popen(
            [
                str(program),
                str(REPOSITORY / "playbooks" / f"{name}.yml"),
                f"-iinventories/{inventory}",
                "-e",
                variables,
                *(["--check"] if check else []),
            ],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env=os.environ
            | {"ANSIBLE_NOCOLOR": "1", "PYTHONUNBUFFERED": "1"}
            | A_LINE_PER_ITERATION,
        )

    def wait_for_line(self, part: str) -> None:
        """Until a line with `part` in it, such as `iteration 1/4`."""
        for line in self._process.stdout:
            self._output.append(line)
            if part in line:
                return
        pytest.fail(f"the playbook ended without a line {part!r}:\n{''.join(self._output)}")

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def kill(self, number: int = signal.SIGKILL) -> None:
        """The whole process group, as a terminal does it."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def terminate(self) -> None:
        """The playbook alone, as an init system does it."""
        self._process.terminate()

    def finished(self) -> Finished:
        rest, _ = self._process.communicate(timeout=self.DEADLINE_S)
        newest = (self._results / "latest").resolve()
        return Finished(self._process.returncode, "".join(self._output) + rest, newest)


@contextmanager
def started(
    name: str, results: Path, inventory: str = "embedded", **extra_vars: object
) -> Iterator[Running]:
    running = Running(name, results, extra_vars, inventory)
    try:
        yield running
    except BaseException:
        running.kill()
        raise


def playbook(
    name: str,
    results: Path,
    inventory: str = "embedded",
    check: bool = False,
    **extra_vars: object,
) -> Finished:
    return Running(name, results, extra_vars, inventory, check).finished()


def came_too_late(attempt: dict) -> bool:
    """It failed, and only because the machine was busy."""
    return attempt["status"] == "failed" and _is_among(TOO_LATE, attempt["message"])


def was_made_again(attempt: dict) -> bool:
    """It failed or was disturbed because the machine was busy; another one followed by itself."""
    return came_too_late(attempt) or attempt.get("repeat", False)


def counts(attempt: dict) -> bool:
    """It is what its iteration has measured."""
    return attempt["status"] == "ok" and not was_made_again(attempt)


def may_be_the_machine(verdict: str) -> bool:
    """Every reason of the verdict is one that a slow machine may give."""
    return all(_is_among(SLOW_MACHINE + CONSEQUENCES, reason) for reason in _reasons(verdict))


def blames_the_machine(verdict: str) -> bool:
    """... and one of them says that it was slow: the result cannot be had here and now."""
    slow = [_is_among(SLOW_MACHINE, reason) for reason in _reasons(verdict)]
    return may_be_the_machine(verdict) and any(slow)


def _reasons(verdict: str) -> list[str]:
    return verdict.removeprefix("invalid: ").split("; ")


def _is_among(known: tuple[str, ...], reason: str) -> bool:
    return any(text in reason for text in known)


def measured(
    name: str, results: Path, inventory: str = "embedded", **extra_vars: object
) -> Finished:
    """A run that the machine did not disturb, or the last of TRIES; of an error or another reason
    there is no second try.
    """
    for _ in range(TRIES):
        finished = playbook(name, results, inventory, fail_on_invalid=False, **extra_vars)
        if finished.status != 0 or not finished.was_disturbed:
            break
    return finished


def require_valid(run: Finished) -> None:
    """Fails where a verdict is not valid: also where each of TRIES runs blames the machine, for
    then nothing has been tested.
    """
    for row in run.rows():
        tried = f" in each of {TRIES} runs" if blames_the_machine(row["verdict"]) else ""
        assert row["verdict"] == "valid", f"{row['method']}{tried}: {row['verdict']}"


def skip_unless_valid(run: Finished) -> None:
    """For further tests of a run that has a test of its verdict: no numbers, no test of them."""
    for row in run.rows():
        if row["verdict"] != "valid":
            pytest.skip(f"there are no numbers to look at: {row['verdict']}")


def pid_of_node(host: str, node: str) -> int:
    """As the node itself tells it."""
    command = [str(BUILD / "bin/nodectl"), "--directory", f"/run/turntable/{TESTBED_ID}/{host}"]
    request = json.dumps([{"node": node, "command": "ping"}])
    done = subprocess.run(command, input=request, capture_output=True, text=True, check=True)
    (answer,) = json.loads(done.stdout)
    return answer["result"]["pid"]


def require_root_and_programs() -> None:
    if os.geteuid() != 0:
        pytest.skip("end-to-end tests make network namespaces: run them as root")
    missing = [name for name in PROGRAMS if not (BUILD / name).exists()]
    if missing:
        pytest.skip(f"{BUILD} lacks {', '.join(missing)}: run `make build` first")


@pytest.fixture(scope="session")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory for results of a testbed that is up."""
    require_root_and_programs()
    results = tmp_path_factory.mktemp("results")
    before = fingerprint.take(TESTBED_ID)
    up = playbook("testbed_up", results)
    assert up.status == 0, up.output
    yield results
    down = playbook("testbed_down", results, purge=True)
    assert down.status == 0, down.output
    assert fingerprint.take(TESTBED_ID) == before
