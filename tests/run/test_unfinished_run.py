"""What a playbook leaves that ends before its run, and what it says."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DEADLINE_S = 120
LATER = "    - wait_for: {timeout: 600}\n"

PLAYBOOK = """
- name: A run
  hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - plan_run: {}
"""

# In place of the real one: claims a run, and returns what that returns.
PLAN_RUN = """
import os, sys, time
from pathlib import Path

from ansible.plugins.action import ActionBase
from turntable_core.ownership import run_claim
from turntable_core.ownership.owner import new_owner

HERE = Path(__file__).resolve().parents[1]

class ActionModule(ActionBase):
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        run = HERE / "results/tiny/r7"
        run.mkdir(parents=True)
        (run / "manifest.json").write_text('{"experiment_file": "experiments/farreach/tiny.yml"}')
        run_claim.claim(run, new_owner("r7", "tiny"))
        if (HERE / "slow").exists():
            (HERE / "pid").write_text(str(os.getpid()))
            self._display.display("planning goes on")
            time.sleep(600)
        return {"changed": True, "run": {"directory": str(run)}, "report": "run r7 planned"}
"""

# sitecustomize: the main process gets the signal when it has closed the process of a task that is
# done, and has not begun the next one.
BETWEEN_TASKS = """
import os

from ansible.executor.process.worker import WorkerProcess

closed = WorkerProcess.close

def close(self):
    closed(self)
    WorkerProcess.close = closed
    os.kill(os.getpid(), {number:d})

WorkerProcess.close = close
"""

# The main process gets it when it has forked the first task's, and does not know it yet.
WHILE_A_TASK_BEGINS = """
import os
from multiprocessing import popen_fork
from pathlib import Path

launch = popen_fork.Popen._launch

def _launch(self, process):
    launch(self, process)
    popen_fork.Popen._launch = launch
    Path({pid!r}).write_text(str(self.pid))
    os.kill(os.getpid(), {number:d})

popen_fork.Popen._launch = _launch
"""

ENDS = pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGINT, 99),
        (signal.SIGTERM, -signal.SIGTERM),
        (signal.SIGHUP, -signal.SIGTERM),
    ],
)


@contextmanager
def playbook(directory: Path) -> Iterator[subprocess.Popen]:
    (directory / "action_plugins").mkdir()
    (directory / "action_plugins/plan_run.py").write_text(PLAN_RUN)
    (directory / "playbook.yml").write_text(PLAYBOOK + LATER)
    program = Path(sys.executable).with_name("ansible-playbook")
    process = subprocess.Popen(
        # Whoever runs these tests may ignore some signals, as nohup does.
        ["env", "--default-signal", program, directory / "playbook.yml"],
        cwd=REPOSITORY,
        env=os.environ
        | {
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_NOCOLOR": "1",
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": str(directory),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def ended(directory: Path, number: int, when: str) -> tuple[int, str]:
    """Status and output of a playbook that gets a signal when it has said `when`."""
    with playbook(directory) as process:
        seen = ""
        while when not in seen:
            line = process.stdout.readline()
            assert line, f"it ended without saying {when!r}: {seen}"
            seen += line
        process.send_signal(number)
        rest, _ = process.communicate(timeout=DEADLINE_S)
        return process.returncode, seen + rest


@ENDS
def test_secret_and_owner_go_with_the_playbook_and_it_says_how_to_continue(
    tmp_path: Path, number: int, status: int
) -> None:
    found, output = ended(tmp_path, number, "run r7 planned")
    assert found == status, output
    _expect_told_and_cleared(tmp_path, output)


@ENDS
def test_so_it_is_between_two_tasks(tmp_path: Path, number: int, status: int) -> None:
    (tmp_path / "sitecustomize.py").write_text(BETWEEN_TASKS.format(number=number))
    with playbook(tmp_path) as process:
        output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == status, output
    _expect_told_and_cleared(tmp_path, output)


def _ends(process: int) -> bool:
    try:
        watched = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], DEADLINE_S)[0])
    finally:
        os.close(watched)


def _expect_told_and_cleared(directory: Path, output: str) -> None:
    left = {path.name for path in (directory / "results/tiny/r7").iterdir()}
    assert left == {"manifest.json"}
    assert (
        "run r7 has not ended; to continue it: "
        "ansible-playbook playbooks/farreach/tiny.yml -e run=r7" in output
    )


@ENDS
def test_so_it_is_while_a_task_begins(tmp_path: Path, number: int, status: int) -> None:
    (tmp_path / "slow").touch()
    text = WHILE_A_TASK_BEGINS.format(number=number, pid=str(tmp_path / "first"))
    (tmp_path / "sitecustomize.py").write_text(text)
    with playbook(tmp_path) as process:
        output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == status, output
    assert _ends(int((tmp_path / "first").read_text()))


@ENDS
def test_its_task_ends_with_it(tmp_path: Path, number: int, status: int) -> None:
    (tmp_path / "slow").touch()
    found, output = ended(tmp_path, number, "planning goes on")
    assert found == status, output
    assert _ends(int((tmp_path / "pid").read_text()))


def test_before_a_run_is_planned_there_is_nothing_to_continue(tmp_path: Path) -> None:
    (tmp_path / "slow").touch()
    _, output = ended(tmp_path, signal.SIGINT, "planning goes on")
    assert "the run was still being planned: nothing has been measured" in output
    assert "-e run=" not in output
