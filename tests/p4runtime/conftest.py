"""A switch with one table of each kind, p4runtime-server in front of it, and clients; another with
a CPU port.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf import text_format

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]

from bfrt.conftest import PORTS, Server  # noqa: E402
from packet.compilation import compile_program, precompile_runtime  # noqa: E402
from packet.live_switch import DEADLINE_S, SoftswitchTarget  # noqa: E402

from .certificates import Authority  # noqa: E402
from .client import Client, load  # noqa: E402
from .forwarder import Forwarder  # noqa: E402

Connect = Callable[..., Client]

# Waits until it may go on, and makes what was compiled before.
WAITING_TRANSLATOR = """\
#!/bin/sh
echo "$$" >"$PIDS.new"
mv "$PIDS.new" "$PIDS"
read -r made <"$GO"
while [ "$1" != --output ]; do shift; done
mkdir "$2"
cp "$made.so" "$2/program.so"
cp "$made.p4info.txtpb" "$2/program.p4info.txtpb"
"""


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", TESTS.parent / "build"))
    if not (path / "bin" / "p4runtime-server").exists():
        pytest.fail(f"no p4runtime-server in {path}/bin; run `make build`")
    return path


@pytest.fixture(scope="session")
def proto(build_dir: Path) -> SimpleNamespace:
    return load((build_dir / "lib/p4runtime/p4runtime.desc").read_bytes())


@pytest.fixture(scope="session")
def compiled(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """The library of a program, from its source."""
    if os.geteuid() != 0:
        pytest.skip("softswitch's ports are in a network namespace: it needs root")
    programs = tmp_path_factory.mktemp("program")
    precompile_runtime(programs)
    return functools.cache(
        lambda source: compile_program(source, [], programs, build_dir, traced=False)
    )


@pytest.fixture(scope="session")
def switch(
    build_dir: Path,
    compiled: Callable[[Path], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SoftswitchTarget]:
    program = compiled(TESTS / "bfrt" / "everything.p4")
    directory = tmp_path_factory.mktemp("switch")
    target = SoftswitchTarget(build_dir / "bin" / "softswitch", program, directory, PORTS)
    yield target
    target.close()


@pytest.fixture(scope="session")
def server(build_dir: Path, switch: SoftswitchTarget) -> Iterator[Server]:
    running = Server(
        build_dir / "bin" / "p4runtime-server", switch.directory, name="p4runtime-server"
    )
    yield running
    running.close()


@dataclass
class InnerSwitch:
    """A switch with a CPU port, and the address of the server at its other end."""

    switch: SoftswitchTarget
    address: str
    proto: SimpleNamespace


@pytest.fixture(scope="session")
def inner(
    build_dir: Path,
    compiled: Callable[[Path], Path],
    tmp_path_factory: pytest.TempPathFactory,
    proto: SimpleNamespace,
) -> Iterator[InnerSwitch]:
    program = compiled(TESTS / "p4runtime" / "packets.p4")
    directory = tmp_path_factory.mktemp("inner")
    target = SoftswitchTarget(
        build_dir / "bin" / "softswitch", program, directory, PORTS, cpu_port=64
    )
    enter = ["ip", "netns", "exec", target.namespace]
    subprocess.run([*enter, "ip", "link", "set", "lo", "up"], check=True)
    server = Server(
        build_dir / "bin" / "p4runtime-server",
        directory,
        "--cpu-interface",
        "t64",
        name="p4runtime-server",
        prefix=enter,
    )
    forwarder = Forwarder(target.namespace, int(server.address.rpartition(":")[2]))
    yield InnerSwitch(target, forwarder.address, proto)
    forwarder.close()
    server.close()
    target.close()


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"), "authority")


@pytest.fixture(scope="session")
def tls_server(build_dir: Path, switch: SoftswitchTarget, authority: Authority) -> Iterator[Server]:
    certificate, key = authority.vouch_for("server")
    options = [f"--tls-certificate={certificate}", f"--tls-key={key}"]
    running = Server(
        build_dir / "bin" / "p4runtime-server",
        switch.directory,
        *options,
        f"--tls-client-ca={authority.certificate}",
        name="p4runtime-tls",
    )
    yield running
    running.close()


class Programs:
    """Two registered programs, as configurations."""

    def __init__(self, directory: Path, proto: SimpleNamespace) -> None:
        self._directory = directory
        self._proto = proto

    def library(self, name: str) -> Path:
        return self._directory / f"{name}.so"

    def config(self, name: str, of: bytes | None = None) -> Any:
        """of: another device config than the library's hash."""
        library = self.library(name)
        config = self._proto.ForwardingPipelineConfig()
        text_format.Parse((self._directory / f"{name}.p4info.txtpb").read_text(), config.p4info)
        config.p4_device_config = of or hashlib.sha256(library.read_bytes()).hexdigest().encode()
        return config


@pytest.fixture(scope="session")
def programs(compiled: Callable[[Path], Path], proto: SimpleNamespace) -> Programs:
    for source in (TESTS / "bfrt" / "everything.p4", TESTS / "p4runtime" / "packets.p4"):
        library = compiled(source)
    return Programs(library.parent, proto)


@pytest.fixture
def reloading(
    build_dir: Path,
    programs: Programs,
    compiled: Callable[[Path], Path],
    tmp_path: Path,
) -> Iterator[tuple[SoftswitchTarget, Server]]:
    library = compiled(TESTS / "bfrt" / "everything.p4")
    switch = SoftswitchTarget(build_dir / "bin" / "softswitch", library, tmp_path, PORTS)
    server = Server(
        build_dir / "bin" / "p4runtime-server",
        tmp_path,
        f"--programs={library.parent}",
        name="p4runtime-server",
    )
    yield switch, server
    server.close()
    switch.close()


@pytest.fixture
def primary(reloading: tuple[SoftswitchTarget, Server], proto: SimpleNamespace) -> Iterator[Client]:
    client = Client(reloading[1].address, proto)
    assert client.open().arbitration.status.code == 0
    yield client
    client.close()


@pytest.fixture(scope="session")
def start_server(build_dir: Path) -> Callable[..., tuple[int, str]]:
    """Starts a server that refuses its options; gives its exit status and what it says."""

    def start(switch: SoftswitchTarget, *options: str) -> tuple[int, str]:
        done = subprocess.run(
            [
                *(build_dir / "bin" / "p4runtime-server", "--directory", switch.directory),
                *("--name", "refused", "--port", "0", *options),
            ],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        return done.returncode, done.stderr

    return start


@pytest.fixture
def connect(server: Server, proto: SimpleNamespace) -> Iterator[Connect]:
    """A function that makes clients, which are closed at the end."""
    clients: list[Client] = []

    def make(election_id: int = 1) -> Client:
        clients.append(Client(server.address, proto, election_id))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture(scope="session")
def election_ids() -> Iterator[int]:
    """Each higher than all before it: a server remembers the highest."""
    return iter(range(1, 1 << 30))


@pytest.fixture
def client(connect: Connect, election_ids: Iterator[int]) -> Client:
    """The primary of a switch whose tables are as at its start."""
    made = connect(next(election_ids))
    assert made.open().arbitration.status.code == 0
    made.set_config("VERIFY_AND_COMMIT", made.get_config())
    return made


@dataclass
class Compiling:
    """A switch, and a server in front of it with a translator."""

    switch: SoftswitchTarget
    server: Server
    client: Client
    directory: Path  # what the server keeps


StartCompiling = Callable[..., Compiling]


@pytest.fixture
def p4soft() -> Path:
    return Path(sys.executable).with_name("p4soft")


@pytest.fixture
def start_compiling(
    build_dir: Path, programs: Programs, proto: SimpleNamespace, tmp_path: Path
) -> Iterator[StartCompiling]:
    started: list[Compiling] = []
    switch = SoftswitchTarget(
        build_dir / "bin" / "softswitch", programs.library("everything"), tmp_path, PORTS
    )

    def begin(translator: Path, *options: str) -> Compiling:
        server = Server(
            build_dir / "bin" / "p4runtime-server",
            tmp_path,
            f"--translator={translator}",
            *options,
            name="p4runtime-server",
        )
        client = Client(server.address, proto)
        assert client.open().arbitration.status.code == 0
        kept = tmp_path / "p4runtime-server.programs"
        started.append(Compiling(switch, server, client, kept))
        return started[-1]

    yield begin
    for each in started:
        each.client.close()
        if each.server.process.poll() is None:
            each.server.close()
    switch.close()


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A translator that waits: `pids` has its process as soon as it does, `go` the file that it
    reads.
    """
    path = tmp_path / "translator"
    path.write_text(WAITING_TRANSLATOR)
    path.chmod(0o755)
    go = tmp_path / "go"
    os.mkfifo(go)
    pids = tmp_path / "pids"
    monkeypatch.setenv("PIDS", str(pids))
    monkeypatch.setenv("GO", str(go))
    return SimpleNamespace(translator=path, go=go, pids=pids)


def let_go(waiting: SimpleNamespace, programs: Programs) -> None:
    """The translator makes the program `packets`."""
    waiting.go.write_text(str(programs.library("packets").with_suffix("")) + "\n")
