"""A switch with one table of each kind, p4runtime-server in front of it, and clients."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]

from bfrt.conftest import PORTS, Server  # noqa: E402
from packet.compilation import compile_program, precompile_runtime  # noqa: E402
from packet.live_switch import SoftswitchTarget  # noqa: E402

from .client import Client, load  # noqa: E402

Connect = Callable[..., Client]


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
def switch(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SoftswitchTarget]:
    if os.geteuid() != 0:
        pytest.skip("softswitch's ports are in a network namespace: it needs root")
    programs = tmp_path_factory.mktemp("program")
    precompile_runtime(programs)
    source = TESTS / "bfrt" / "everything.p4"
    program = compile_program(source, [], programs, build_dir, traced=False)
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
