"""A playbook ends with an interrupt, whenever it comes. Real playbooks, interrupted at an instant
that a module chooses which Python imports when it starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
INTERRUPTED = 99  # Ansible's exit status

# The last task would take longer than this file's deadline.
PLAYBOOK = """
- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - set_fact: {a: 1}
    - set_fact: {b: 2}
    - set_fact: {c: 3}
    - wait_for: {timeout: 600}
"""
DEADLINE_S = 120

# As the signal that arrives during a fork: its handler runs in a hook, where it cannot raise.
IN_THE_HOOK_OF_A_FORK = """
import os
import signal

forks = 0

def interrupt():
    global forks
    forks += 1
    if forks == 2:
        signal.raise_signal(signal.SIGINT)

os.register_at_fork(after_in_parent=interrupt)
"""

# As the task that dies with a lock the main process needs to end.
WITH_AN_ENDING_THAT_HANGS = """
import os
import signal
import threading

from ansible.plugins.strategy import StrategyBase

StrategyBase.cleanup = lambda self: threading.Event().wait()
os.register_at_fork(after_in_child=lambda: os.kill(os.getppid(), signal.SIGINT))
"""


@pytest.mark.parametrize(
    "moment",
    [IN_THE_HOOK_OF_A_FORK, WITH_AN_ENDING_THAT_HANGS],
    ids=["in the hook of a fork", "with an ending that hangs"],
)
def test_an_interrupted_playbook_ends(tmp_path: Path, moment: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(moment)
    (tmp_path / "playbook.yml").write_text(PLAYBOOK)
    program = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run(
        [program, tmp_path / "playbook.yml"],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == INTERRUPTED, done.stdout + done.stderr
