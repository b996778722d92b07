"""Who does not belong to a run gets nowhere on its control links.

The handshake is in src/net/handshake.h.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from turntable_bench import handshake
from turntable_bench.copies import CLIENT_HELLO, VERSION, message

from .nodes import Node, running

ADDRESS, HELLO, SCALE = "127.0.0.1", 0x01, 4
ANOTHER_SECRET = "0" * 64
HOLDS_NOTHING, STORE = 0, 7
SERVED = [number for partition in range(SCALE) for number in (partition, STORE)]
"""By partition, with the incarnation of its store (src/farreach/cache/server_hello.h)."""
SERVER_HELLO = message(HELLO, 1, [VERSION, SCALE, HOLDS_NOTHING, *SERVED], [])


@pytest.fixture
def controller(build_dir: Path, tmp_path: Path) -> Iterator[Node]:
    """A cache-controller whose agent is not there."""
    options = ("--address", ADDRESS, "--port", str(_free_port()))
    with running(build_dir / "bin" / "cache-controller", tmp_path, *options) as node:
        node.port = int(options[-1])
        node.call("configure", method="farreach", scale=SCALE, agent_address=ADDRESS, agent_port=1)
        yield node


def test_a_hello_without_a_proof_serves_nothing(controller: Node) -> None:
    with _connected(controller) as channel:
        _read_all(channel, sent=SERVER_HELLO)
    _eventually(lambda: _refused(controller)["unproven"] == 1)
    assert controller.call("stats")["servers"] == []


def test_a_proof_with_another_secret_is_refused(controller: Node) -> None:
    with _connected(controller) as channel, pytest.raises(ConnectionError):
        handshake.prove(channel, ANOTHER_SECRET, "kvserver")
    _eventually(lambda: _refused(controller)["unproven"] == 1)


def test_a_recorded_proof_is_good_for_its_own_connection_only(controller: Node) -> None:
    recorded = _Recorder(_connected(controller))
    with contextlib.closing(recorded.channel):
        handshake.prove(recorded, handshake.SECRET, "kvserver")
        with _connected(controller) as channel:
            _read_all(channel, sent=bytes(recorded.sent) + SERVER_HELLO)
        _eventually(lambda: _refused(controller)["unproven"] == 1)
        assert controller.call("stats")["servers"] == []


def test_a_restarted_server_takes_the_place_of_its_half_open_connection(controller: Node) -> None:
    with _connected(controller) as before, _connected(controller) as restarted:
        handshake.prove(before, handshake.SECRET, "kvserver")
        before.sendall(SERVER_HELLO)
        _eventually(lambda: controller.call("stats")["servers"] == [0, 1, 2, 3])
        handshake.prove(restarted, handshake.SECRET, "kvserver")
        restarted.sendall(SERVER_HELLO)
        _read_all(before)  # ended by the controller
        _eventually(lambda: controller.call("stats")["servers"] == [0, 1, 2, 3])
    assert _refused(controller) == {"unproven": 0, "silent": 0, "older": 0}


def test_another_node_does_not_take_partitions_that_are_served(controller: Node) -> None:
    with _connected(controller) as server, _connected(controller) as other:
        handshake.prove(server, handshake.SECRET, "kvserver")
        server.sendall(SERVER_HELLO)
        _eventually(lambda: controller.call("stats")["servers"] == [0, 1, 2, 3])
        handshake.prove(other, handshake.SECRET, "another kvserver")
        other.sendall(SERVER_HELLO)
        _eventually(lambda: controller.call("stats")["refused_hellos"] == 1)
        server.sendall(message(HELLO, 2, [VERSION, SCALE, HOLDS_NOTHING, *SERVED], []))
        assert server.recv(1)  # it is still there


def test_clients_need_a_proof_too(controller: Node) -> None:
    with _connected(controller) as channel:
        _read_all(channel, sent=message(CLIENT_HELLO, 1, [VERSION], []))
    assert controller.call("stats")["clients"] == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return probe.getsockname()[1]


def _connected(controller: Any) -> socket.socket:
    channel = socket.create_connection((ADDRESS, controller.port))
    channel.settimeout(20)
    return channel


def _read_all(channel: socket.socket, sent: bytes = b"") -> None:
    """Returns when the other end has closed the connection."""
    with contextlib.suppress(ConnectionError):
        if sent:
            channel.sendall(sent)
        while channel.recv(4096):
            pass


def _refused(controller: Node) -> dict[str, int]:
    return controller.call("stats")["refused_connections"]


def _eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)  # waits: interval of a probe with a deadline


class _Recorder:
    """A connection that keeps what was sent."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel, self.sent = channel, bytearray()

    def recv(self, size: int) -> bytes:
        return self.channel.recv(size)

    def sendall(self, data: bytes) -> None:
        self.sent += data
        self.channel.sendall(data)
