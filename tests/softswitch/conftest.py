"""A program that a reader might bring, and `p4soft run` of it on veths of a namespace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
REPOSITORY = TESTS.parent
sys.path[:0] = [str(REPOSITORY / "src"), str(TESTS), str(TESTS / "p4soft")]

from p4_programs import program  # noqa: E402
from packet.live_switch import DEADLINE_S, Links  # noqa: E402

IN, OUT = 1, 2
Command = list[str | Path]
P4SOFT: Command = [sys.executable, "-m", "p4soft"]


class Run:
    """`p4soft run`, and what it prints until it forwards."""

    def __init__(self, command: Command, environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.said: dict[str, str] = {}
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said[line[:12].strip()] = line[12:].strip()
            if "forwarding" in self.said:
                return
        status = self.process.wait(DEADLINE_S)
        assert self.process.stderr is not None
        pytest.fail(f"p4soft ended with {status}: {self.process.stderr.read()}")

    @property
    def control_directory(self) -> Path:
        return Path(self.said["control"].rpartition("--directory ")[2])

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode


Start = Callable[..., Run]


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "bin" / "p4runtime-server").exists():
        pytest.fail(f"no p4runtime-server in {path}/bin; run `make softswitch`")
    return path


@pytest.fixture
def links() -> Iterator[Links]:
    if os.geteuid() != 0:
        pytest.skip("the switch's ports are in a network namespace: it needs root")
    made = Links([IN, OUT])
    yield made
    made.remove()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """forward.p4: what comes leaves at port OUT, which an included file says."""
    directory = tmp_path / "source"
    (directory / "include").mkdir(parents=True)
    (directory / "include" / "out.p4").write_text(f"const PortId_t OUT_PORT = {OUT};\n")
    path = directory / "forward.p4"
    forward = "ig_tm_md.ucast_egress_port = OUT_PORT;"
    path.write_text(program(forward, top="#include <out.p4>\n"))
    return path


@pytest.fixture(scope="session")
def cache_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def arguments(source: Path, cache_directory: Path) -> Command:
    """Of `p4soft run`, but for the program p4soft."""
    return [
        "run", source, "-I", source.parent / "include", "--cache-dir", cache_directory,
        f"--port={IN}=s{IN}", f"--port={OUT}=s{OUT}",
        "--bfrt=127.0.0.1:0", "--p4runtime=127.0.0.1:0",
    ]  # fmt: skip


@pytest.fixture
def start(build_dir: Path, links: Links, arguments: Command) -> Iterator[Start]:
    """Starts the program on the links; further options may be given."""
    runs: list[Run] = []

    def begin(*options: str | Path, p4soft: Command = P4SOFT) -> Run:
        command = ["ip", "netns", "exec", links.namespace, *p4soft, *arguments, *options]
        runs.append(Run(command))
        return runs[-1]

    yield begin
    for run in runs:
        if run.process.poll() is None:
            run.process.kill()
            run.process.wait(DEADLINE_S)
