"""Faults to inject into a running experiment, and what tells when to."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from turntable_testbed import fingerprint

from .conftest import REPOSITORY, TESTBED_ID, Running, pid_of_node

# Both long enough for what a busy machine does between two signs of life.
LEASE_S = 10
COMMAND_S = 10

# Windows as short as four logical servers need to settle, and deadlines that a test can wait for.
# Commands have time to arrive before the common start: what fails in these runs was made to fail.
SHORT = {
    "profile": "smoke",
    "measure_s": 0.3,
    "start_lead_ms": 300,
    "fail_on_invalid": False,
    "repeats": 0,  # attempts are counted, also on a machine that disturbs them
    "turntable_lease_s": LEASE_S,
}
DEADLINES = {
    "start_nodes": 60,
    "configure": 60,
    "load": 120,
    "prepare": 20,  # so long the run waits for the node that hangs
    "command": COMMAND_S,
    "stop": 60,
}

PLAYBOOK = """
- import_playbook: {playbooks}/check_inventory.yml
  vars:
    known_variables: of the experiment
- name: Throughput with short deadlines
  hosts: controller
  tasks:
    - import_tasks: {playbooks}/tasks/run.yml
      vars:
        turntable_experiment: {experiment}
"""

Undo = Callable[[], None]


def write_experiment(directory: Path) -> str:
    """The main experiment with DEADLINES; returns its playbook, as `playbook` takes it."""
    shutil.copytree(REPOSITORY / "experiments", directory / "experiments")
    path = directory / "experiments/farreach/exp01_throughput.yml"
    document = yaml.safe_load(path.read_text())
    document["deadlines"] = DEADLINES
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    (directory / "short.yml").write_text(
        PLAYBOOK.format(playbooks=REPOSITORY / "playbooks", experiment=path.with_suffix(""))
    )
    return str(directory / "short")


def wait_until(condition: Callable[[], bool], running: Running | None, deadline_s: float) -> None:
    end = time.monotonic() + deadline_s
    while not condition():
        if running is not None and running.has_ended:
            pytest.fail(f"the playbook ended too early:\n{running.finished().output}")
        assert time.monotonic() < end, f"not within {deadline_s} s"
        time.sleep(0.02)


def statuses(run: Path) -> list[str]:
    """Of the attempts in the journal, in order; `repeated` where the machine disturbed one that is
    measured again.
    """
    journal = run / "journal.ndjson"
    lines = journal.read_text().split("\n")[:-1] if journal.exists() else []
    attempts = [json.loads(line) for line in lines]
    return ["repeated" if attempt.get("repeat") else attempt["status"] for attempt in attempts]


def measuring(run: Path, after: int = 0) -> bool:
    """An attempt is under way, the one before it did not fail, and `after` iterations are done."""
    done = statuses(run)
    begun = len(list(run.glob("raw/*/r*/i*/a*")))
    settled = done[-1:] in ([], ["ok"], ["repeated"])
    return begun > len(done) and settled and done.count("ok") >= after


def is_clean(before: fingerprint.Fingerprint) -> bool:
    return fingerprint.take(TESTBED_ID) == before


def killed(host: str, node: str, number: int = signal.SIGKILL) -> Undo:
    """Nothing is left to mend: the run starts its nodes afresh."""
    os.kill(pid_of_node(host, node), number)
    return lambda: None


def without_namespace(host: str) -> Undo:
    """The host's namespace lives on, but no new command finds its name."""
    name = Path(f"/run/netns/{TESTBED_ID}-{host}")
    kept = Path(f"/run/{TESTBED_ID}-kept")
    kept.touch()
    subprocess.run(["mount", "--bind", name, kept], check=True)
    subprocess.run(["umount", name], check=True)
    name.unlink()

    def restore() -> None:
        name.touch()
        subprocess.run(["mount", "--bind", kept, name], check=True)
        subprocess.run(["umount", kept], check=True)
        kept.unlink()

    return restore


class Clock:
    """The clock of one host, changed by libfaketime under everything that is started there."""

    def __init__(self, directory: Path, host: str) -> None:
        (library,) = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
        self._offset = directory / "offset"
        self.set(0)
        self._enter = directory / "enter"
        self._enter.write_text(
            "#!/bin/sh\n"
            f'if [ "$1" = --net=/run/netns/{TESTBED_ID}-{host} ]; then\n'
            f"  export LD_PRELOAD={library} FAKETIME_TIMESTAMP_FILE={self._offset}\n"
            "  export FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1\n"
            "fi\n"
            'exec nsenter "$@"\n'
        )
        self._enter.chmod(0o755)
        self.variables = {"ansible_netns_executable": str(self._enter)}

    def set(self, offset_s: float) -> None:
        temporary = self._offset.with_suffix(".new")
        temporary.write_text(f"{offset_s:+g}\n")
        temporary.replace(self._offset)

    def jumps(self, offset_s: float) -> Undo:
        self.set(offset_s)
        return lambda: self.set(0)


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[Callable[[str], None]]:
    """A file system of `size` at `path`; called with another size it has that."""
    path.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], check=True)
    try:
        yield lambda other: subprocess.run(
            ["mount", "-o", f"remount,size={other}", path], check=True
        )
    finally:
        subprocess.run(["umount", path], check=True)
