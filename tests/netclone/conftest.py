"""A running rpcserver on the loopback."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kv.nodes import Node, running
from tests.kv.ports import free_port

from .wire import Packet, packet_of

REPOSITORY = Path(__file__).resolve().parents[2]
ADDRESS = "127.0.0.1"

# Undilated, in us: times that a busy machine can hold.
PREPARE: dict[str, Any] = {
    "server": 2,
    "mode": "slots",
    "workers": 2,
    "seed": 7,
    "dilation": 1,
    "service": {"distribution": "fixed", "us": 20_000},
    "jitter": {"probability": 0, "factor": 1},
    "drop_clones": True,
}


class Server:
    """The node, and a socket that sends requests to it."""

    def __init__(self, node: Node, port: int) -> None:
        self.node = node
        self._to = (ADDRESS, port)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((ADDRESS, 0))
        self._socket.settimeout(20)

    def prepare(self, **changes: Any) -> Any:
        return self.node.call("prepare", **(PREPARE | changes))

    def open_window(self, seconds: float = 60) -> None:
        """Begins at once."""
        begin = time.time_ns() + 200_000_000
        self.node.call("start", measure_from_ns=begin, measure_until_ns=begin + int(seconds * 1e9))
        while time.time_ns() < begin:
            time.sleep(0.001)

    def send(self, packet: Packet | bytes) -> None:
        self._socket.sendto(bytes(packet), self._to)

    def answer(self) -> Packet:
        datagram, sender = self._socket.recvfrom(2048)
        assert sender == self._to
        return packet_of(datagram)

    def answers(self, count: int) -> list[Packet]:
        return [self.answer() for _ in range(count)]

    def stats(self) -> Any:
        return self.node.call("stats")

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "bin" / "rpcserver").exists():
        pytest.fail(f"no rpcserver in {path}/bin; run `make build` or set TURNTABLE_BUILD_DIR")
    return path


@pytest.fixture
def server(build_dir: Path, tmp_path: Path) -> Iterator[Server]:
    port = free_port()
    options = ("--address", ADDRESS, "--port", str(port))
    with running(build_dir / "bin" / "rpcserver", tmp_path, *options) as node:
        server = Server(node, port)
        yield server
        server.close()
