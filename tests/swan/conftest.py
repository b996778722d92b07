"""A running colocator, alone or under a supervisor, and what it leaves of itself on the machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kv.nodes import Node, running

REPOSITORY = Path(__file__).resolve().parents[2]
HOST = "sut"
CGROUPS = Path("/sys/fs/cgroup")


def eventually(condition: Callable[[], Any], deadline_s: float = 10) -> None:
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, "the condition does not hold"
        time.sleep(0.005)


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "bin" / "colocator").exists():
        pytest.fail(f"no colocator in {path}/bin; run `make build` or set TURNTABLE_BUILD_DIR")
    for program in ("memcached", "stress-ng"):
        if shutil.which(program) is None:
            pytest.fail(f"no {program} in PATH; run `make setup`")
    return path


@pytest.fixture
def testbed(monkeypatch: pytest.MonkeyPatch) -> str:
    """The id that programs started here carry."""
    name = f"swan-test-{os.getpid()}"
    monkeypatch.setenv("TURNTABLE_TESTBED", name)
    monkeypatch.setenv("TURNTABLE_HOST", HOST)
    return name


class Colocator:
    """The node, with arguments that tests change a little."""

    def __init__(self, node: Node, directory: Path) -> None:
        self.node = node
        self.directory = directory
        self.memcached = {
            "threads": 1,
            "connections": 64,
            "memory_mb": 64,
            "socket": str(directory / "memcached.sock"),
            "fresh": False,
        }

    def prepare(
        self, mechanism: str = "none", aggressor: Any = None, layout: str = "same-core", **more: Any
    ) -> Any:
        isolation = {"mechanism": mechanism} | more.pop("isolation", {})
        memcached = self.memcached | more.pop("memcached", {})
        placement = {"layout": layout, "one_machine": True}
        return self.node.call(
            "prepare",
            placement=placement | more,
            isolation=isolation,
            memcached=memcached,
            aggressor=aggressor,
        )

    def settle(self) -> Any:
        return self.node.call("settle", deadline_s=20)

    def measure(self, seconds: float = 0.3) -> None:
        """Begins a window soon, and returns when it is over."""
        begin = time.time_ns() + 500_000_000
        window = int(seconds * 1e9)
        self.node.call("start", start_at_ns=begin, warmup_ns=0, measure_ns=window, drain_ns=0)
        while time.time_ns() < begin + window + 20_000_000:
            time.sleep(0.005)

    def finish(self) -> Any:
        return self.node.call("finish", deadline_s=10)

    def stats(self) -> Any:
        return self.node.call("stats")


@pytest.fixture
def colocator(build_dir: Path, tmp_path: Path, testbed: str) -> Iterator[Colocator]:
    with running(build_dir / "bin" / "colocator", tmp_path) as node:
        yield Colocator(node, tmp_path)
    assert not groups_of(testbed)


def groups_of(testbed: str) -> list[Path]:
    """Control groups of its hosts."""
    return sorted(CGROUPS.glob(f"*/turntable.{testbed}.*"))


def processes_of(testbed: str) -> list[str]:
    """Processes that carry its mark, or name it: guardians do."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            texts = [(directory / name).read_bytes() for name in ("environ", "cmdline")]
        except OSError:
            continue
        if int(directory.name) == os.getpid():
            continue
        if f"TURNTABLE_TESTBED={testbed}".encode() in texts[0] or testbed.encode() in texts[1]:
            found.append(f"{directory.name} {texts[1].decode(errors='replace')}")
    return found


class Supervised:
    """A supervisor, and the colocator that it has started."""

    def __init__(self, build_dir: Path, directory: Path, testbed: str) -> None:
        self._bin = build_dir / "bin"
        self.directory = directory
        options = ["--directory", str(directory), "--testbed", testbed, "--host", HOST]
        options += ["--lease", "60", "--daemonize"]
        subprocess.run([self._bin / "supervisor", *options], check=True, timeout=20)

    def ask(self, node: str, command: str, **args: Any) -> Any:
        requests = json.dumps([{"node": node, "command": command, "args": args}])
        line = [self._bin / "nodectl", "--directory", self.directory]
        done = subprocess.run(line, input=requests.encode(), capture_output=True, check=False)
        (answer,) = json.loads(done.stdout)
        assert answer["ok"], answer
        return answer["result"]

    def spawn(self) -> int:
        """The colocator's pid."""
        argv = [str(self._bin / "colocator"), "--directory", str(self.directory)]
        return int(self.ask("supervisor", "spawn", name="colocator", argv=argv)["pid"])
