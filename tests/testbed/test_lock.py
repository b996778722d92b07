"""What is left when supervisors are killed, and playbooks that meet a testbed in use."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .conftest import REPOSITORY, Testbed

BUILD = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
NODE = BUILD / "tests/test-node"
BUILD_SETTING = f"-eturntable_build_dir={BUILD}"
OWNER = {
    "user": "alice",
    "controller": "ctl",
    "pid": 17,
    "run": "20261121-183000-smoke",
    "experiment": "farreach_exp01_throughput",
    "since_ns": 1,
}

pytestmark = pytest.mark.skipif(not NODE.exists(), reason=f"{NODE} is missing: make build")


class Supervisor:
    """Of a host, but in the machine's own network namespace: nothing but its marks gives away what
    it starts.
    """

    def __init__(self, testbed: Testbed, host: str, lease_s: float) -> None:
        self.directory = Path(f"/run/turntable/{testbed.id}/{host}")
        identity = ["--testbed", testbed.id, "--host", host, "--owner", json.dumps(OWNER)]
        subprocess.run(
            [*self._program("supervisor"), *identity, "--lease", str(lease_s), "--daemonize"],
            check=True,
        )
        self.pid = self.ask("supervisor", "ping")["pid"]

    def _program(self, name: str) -> list[str]:
        return [str(BUILD / "bin" / name), "--directory", str(self.directory)]

    def ask(self, node: str, command: str, **args: object) -> dict:
        request = json.dumps([{"node": node, "command": command, "args": args}])
        done = subprocess.run(
            self._program("nodectl"), input=request, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)[0]["result"]

    def spawn_with_child(self) -> int:
        """A node that starts a process in a session of its own; returns that one's pid."""
        pid_file = self.directory / "child.pid"
        argv = [str(NODE), "--directory", str(self.directory), "--name", "parent"]
        argv += ["--orphan", str(pid_file)]
        self.ask("supervisor", "spawn", name="parent", argv=argv)
        eventually(pid_file.exists)
        return int(pid_file.read_text())

    @contextmanager
    def renewed(self) -> Iterator[None]:
        """As by a run in progress."""
        end = threading.Event()

        def renew() -> None:
            while not end.wait(0.2):
                self.ask("supervisor", "renew", lease_s=30)

        thread = threading.Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lives(pid: int) -> bool:
    """Neither gone nor a zombie, which only its parent can remove."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends while being read
        return False


def test_what_a_killed_supervisor_left_is_listed_and_ended_by_up(testbed: Testbed) -> None:
    assert testbed.playbook("testbed_up", BUILD_SETTING).returncode == 0
    dead = Supervisor(testbed, "server0", lease_s=60)
    child = dead.spawn_with_child()
    os.kill(dead.pid, signal.SIGKILL)
    eventually(lambda: len(testbed.fingerprint()["processes"]) == 1)
    (left,) = testbed.fingerprint()["processes"]
    assert f"(pid {child}, outside)" in left

    up = testbed.playbook("testbed_up", BUILD_SETTING)
    assert up.returncode == 0, up.stdout
    assert not lives(child)
    assert testbed.fingerprint()["processes"] == []


def test_next_supervisor_of_the_host_ends_it_too(testbed: Testbed) -> None:
    dead = Supervisor(testbed, "server0", lease_s=60)
    child = dead.spawn_with_child()
    os.kill(dead.pid, signal.SIGKILL)
    eventually(lambda: len(testbed.fingerprint()["processes"]) == 1)
    Supervisor(testbed, "server0", lease_s=60).ask("supervisor", "shutdown")
    assert not lives(child)


def test_run_in_progress_is_left_alone_until_force(testbed: Testbed) -> None:
    assert testbed.playbook("testbed_up", BUILD_SETTING).returncode == 0
    network = testbed.fingerprint()["links"]
    supervisor = Supervisor(testbed, "switch0", lease_s=30)
    child = supervisor.spawn_with_child()
    with supervisor.renewed():
        for name in ("testbed_up", "provision", "stop", "testbed_down"):
            refused = testbed.playbook(name, BUILD_SETTING)
            assert refused.returncode != 0, name
            assert (
                f"testbed '{testbed.id}' is in use by alice@ctl, run 20261121-183000-smoke "
                "(farreach_exp01_throughput), for" in refused.stdout
            )
        assert testbed.playbook("testbed_up", BUILD_SETTING, "-eforce=true").returncode != 0
        assert lives(child)
    stop = testbed.playbook("stop", BUILD_SETTING, "-eforce=true")
    assert stop.returncode == 0, stop.stdout
    assert testbed.fingerprint()["processes"] == []
    assert testbed.fingerprint()["links"] == network


def test_dead_lease_is_waited_for(testbed: Testbed) -> None:
    assert testbed.playbook("testbed_up", BUILD_SETTING).returncode == 0
    supervisor = Supervisor(testbed, "server1", lease_s=60)
    child = supervisor.spawn_with_child()
    supervisor.ask("supervisor", "renew", lease_s=4)
    down = testbed.playbook("testbed_down", BUILD_SETTING)
    assert down.returncode == 0, down.stdout
    assert not lives(supervisor.pid)
    assert not lives(child)
    assert testbed.fingerprint() == {kind: [] for kind in testbed.fingerprint()}
