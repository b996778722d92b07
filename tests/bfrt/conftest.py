"""A switch with one table of each kind (everything.p4), bfrt-server in front of it, and clients."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parents[1]
REPOSITORY = TESTS.parent
sys.path[:0] = [str(REPOSITORY / "src"), str(TESTS)]

from packet.compilation import compile_program, precompile_runtime  # noqa: E402
from packet.live_switch import SoftswitchTarget  # noqa: E402

from . import messages  # noqa: E402
from .client import DEADLINE_S, Client  # noqa: E402

PORTS = [1, 2, 3]
QUEUES = 8  # of a port
SPEED = {"$SPEED": "BF_SPEED_25G", "$FEC": "BF_FEC_TYP_RS"}
# Who names others before these.
TABLES = [
    *("forward", "policed", "prefixes", "ranges", "seen", "limits", "hits", "pairs", "unwanted"),
    *(
        "$PORT_METADATA",
        "painted",
        "groups",
        "members",
        "watched",
        "tallied",
        "filtered",
        "smooth",
        "early",
        "mixed.configure",
        "mixed.algorithm",
    ),
]
FIXED = ["$pre.mgid", "$pre.node", "$pre.prune", "$pre.port", "$mirror.cfg"]
PROGRAM = "everything"


class Server:
    """A server beside the switch whose run directory it shares."""

    def __init__(
        self,
        binary: Path,
        directory: Path,
        *options: str,
        name: str = "bfrt-server",
        prefix: Sequence[str] = (),
    ) -> None:
        """prefix: a command that starts the server."""
        self._name = name
        self._socket_path = directory / f"{name}.sock"
        self._argv = [*prefix, binary, "--directory", directory, "--name", name, "--port", "0"]
        self._argv += options
        self.process = subprocess.Popen(self._argv)
        try:
            self.address = self._wait_until_it_serves()
        except BaseException:
            self.process.kill()
            raise

    def command(self, name: str) -> Any:
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(DEADLINE_S)
            control.connect(str(self._socket_path))
            control.sendall(json.dumps({"id": 1, "command": name}).encode() + b"\n")
            answer = json.loads(control.makefile().readline())
        return answer["result"]

    def _wait_until_it_serves(self) -> str:
        """The address, as soon as there is a switch behind it."""
        end = time.monotonic() + DEADLINE_S
        while True:
            try:
                stats = self.command("stats")
                if stats["program"] is not None:
                    return f"{stats['address']}:{stats['port']}"
            except OSError:
                pass
            if self.process.poll() is not None:
                raise RuntimeError(f"{self._name} ended with {self.process.returncode}")
            if time.monotonic() > end:
                raise TimeoutError(f"{self._name} does not serve")
            time.sleep(0.01)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=DEADLINE_S)


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "bin" / "bfrt-server").exists():
        pytest.fail(f"no bfrt-server in {path}/bin; run `make build` or set TURNTABLE_BUILD_DIR")
    return path


@pytest.fixture(scope="session")
def proto(build_dir: Path) -> SimpleNamespace:
    return messages.load(build_dir)


@pytest.fixture(scope="session")
def program(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("program")
    precompile_runtime(directory)
    return compile_program(
        Path(__file__).parent / "everything.p4", [], directory, build_dir, traced=False
    )


StartSwitch = Callable[[], SoftswitchTarget]


@pytest.fixture(scope="session")
def start_switch(
    build_dir: Path, program: Path, tmp_path_factory: pytest.TempPathFactory
) -> StartSwitch:
    if os.geteuid() != 0:
        pytest.skip("softswitch's ports are in a network namespace: it needs root")

    def start() -> SoftswitchTarget:
        directory = tmp_path_factory.mktemp("switch")
        return SoftswitchTarget(build_dir / "bin" / "softswitch", program, directory, PORTS)

    return start


@pytest.fixture(scope="session")
def switch(start_switch: StartSwitch) -> Iterator[SoftswitchTarget]:
    target = start_switch()
    yield target
    target.close()


@pytest.fixture(scope="session")
def running_server(build_dir: Path, switch: SoftswitchTarget) -> Iterator[Server]:
    running = Server(build_dir / "bin" / "bfrt-server", switch.directory)
    yield running
    running.close()


@pytest.fixture
def server(running_server: Server, proto: SimpleNamespace) -> Server:
    """With nothing in it that another test wrote, and nobody who is connected."""
    end = time.monotonic() + DEADLINE_S
    while running_server.command("stats")["clients"]:
        assert time.monotonic() < end, "a client of another test stays"
        time.sleep(0.01)
    client = Client(running_server.address, proto)
    try:
        client.write_updates(_resetting(client), p4_name=PROGRAM)
        # Queues are of one pipe.
        client.write_updates(_unshaping(client), pipe=0, p4_name=PROGRAM)
    finally:
        client.close()
    return running_server


def _resetting(client: Client) -> list[Any]:
    """Tables are emptied; ports are there, enabled, as on a switch that has just begun."""
    updates = [client.update("DELETE", client.entry(table)) for table in TABLES + FIXED]
    updates.append(client.update("DELETE", client.entry("$PORT")))
    for port in PORTS:
        entry = client.entry("$PORT", {"$DEV_PORT": port}, data=SPEED | {"$PORT_ENABLE": True})
        updates.append(client.update("INSERT", entry))
    return updates


def _unshaping(client: Client) -> list[Any]:
    shaping = {"max_rate": 0, "max_burst_size": 0, "provisioning": "UPPER"}
    keys: list[tuple[str, dict[str, Any]]] = [("port", {"dev_port": port}) for port in PORTS]
    # A group is four ports; a queue's number goes on from port to port.
    keys += [
        ("queue", {"pg_id": port // 4, "pg_queue": port % 4 * QUEUES + queue})
        for port in PORTS
        for queue in range(QUEUES)
    ]
    return [
        client.update("MODIFY", client.entry(f"tf1.tm.{kind}.{table}", key, data=data))
        for kind, key in keys
        for table, data in (("sched_cfg", {"max_rate_enable": False}), ("sched_shaping", shaping))
    ]


@pytest.fixture
def connect(server: Server, proto: SimpleNamespace) -> Iterator[Callable[[int], Client]]:
    """Clients, without a stream yet, that are closed after the test."""
    clients: list[Client] = []

    def make(client_id: int = 1) -> Client:
        clients.append(Client(server.address, proto, client_id))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(connect: Callable[[int], Client]) -> Client:
    """Subscribed with id 1 and bound."""
    made = connect(1)
    made.open(enable_learn_notifications=True, enable_port_status_change_notifications=True)
    made.bind()
    return made
