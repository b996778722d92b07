"""TCP's uplink is a token bucket at the host's interface: there while a node needs it, and gone
afterwards, whatever became of the node.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kv.nodes import Node, NodeError, command_line

from .conftest import REPOSITORY

PROGRAM = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build")) / "bin/msgbench-server"
NAMESPACE = f"uplink{os.getpid() % 100000:05d}"
ADDRESS, INTERFACE = "198.18.0.1", "data"

TCP = {"kind": "tcp", "link_bps": 20_000_000, "link_overhead_bytes": 24}
HOMA = {"kind": "homa", "link_bps": 20_000_000}

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace needs root")


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def namespace() -> Iterator[None]:
    run("ip", "netns", "add", NAMESPACE)
    try:
        inside = ("ip", "-n", NAMESPACE)
        run(*inside, "link", "add", INTERFACE, "mtu", "1600", "type", "veth", "peer", "name", "far")
        run(*inside, "address", "add", f"{ADDRESS}/24", "dev", INTERFACE)
        for interface in ("lo", INTERFACE, "far"):
            run(*inside, "link", "set", interface, "up")
        yield
    finally:
        run("ip", "netns", "delete", NAMESPACE)


class Server(Node):
    """In the namespace."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self._socket_path = directory / f"{PROGRAM.name}.sock"
        line = command_line(PROGRAM, directory, "--address", ADDRESS, "--port", "5001")
        self.process = subprocess.Popen(["ip", "netns", "exec", NAMESPACE, *line])
        self.wait_ready()

    def prepare(self, transport: dict[str, Any]) -> None:
        clients = [{"address": "198.18.0.2", "port": 5000}]
        self.call("prepare", transport=transport, clients=clients, realtime=False)


def shaped() -> list[dict[str, Any]]:
    rows = json.loads(run("tc", "-n", NAMESPACE, "-j", "qdisc", "show", "dev", INTERFACE))
    return [row for row in rows if row["kind"] == "tbf"]


def gso_max_segs() -> int:
    (link,) = json.loads(run("ip", "-n", NAMESPACE, "-j", "-d", "link", "show", "dev", INTERFACE))
    return link["gso_max_segs"]


@pytest.mark.usefixtures("namespace")
def test_it_is_the_links_rate_while_tcp_is_spoken(tmp_path: Path) -> None:
    before = gso_max_segs()
    server = Server(tmp_path / "run")
    try:
        server.prepare(TCP)
        (bucket,) = shaped()
        assert bucket["handle"] == "7474:"
        assert bucket["options"]["rate"] == 2_500_000  # bytes per second: 20 Mb/s
        # Two full frames: MTU 1,600, Ethernet 14 and the overhead; tc rounds to its clock's ticks.
        assert bucket["options"]["burst"] == pytest.approx(2 * (1600 + 14 + 24), abs=2)
        assert gso_max_segs() == 1
        server.prepare(HOMA)
        assert (shaped(), gso_max_segs()) == ([], before)
        server.prepare(TCP)
        assert len(shaped()) == 1
    finally:
        server.end()
    assert (shaped(), gso_max_segs()) == ([], before)


@pytest.mark.usefixtures("namespace")
@pytest.mark.parametrize("transport", [HOMA, TCP])
def test_what_a_killed_node_has_left_is_removed(tmp_path: Path, transport: dict) -> None:
    killed = Server(tmp_path / "killed")
    killed.prepare(TCP)
    killed.process.kill()
    killed.process.wait()
    assert len(shaped()) == 1
    server = Server(tmp_path / "run")
    try:
        server.prepare(transport)
        assert len(shaped()) == (transport is TCP)
    finally:
        server.end()
    assert shaped() == []


@pytest.mark.usefixtures("namespace")
def test_what_somebody_else_has_set_stays(tmp_path: Path) -> None:
    inside = ("tc", "-n", NAMESPACE)
    run(*inside, "qdisc", "add", "dev", INTERFACE, "root", "handle", "9:", "pfifo")
    server = Server(tmp_path / "run")
    try:
        with pytest.raises(NodeError, match=f"{INTERFACE} has the queueing discipline 9:"):
            server.prepare(TCP)
        server.prepare(HOMA)
    finally:
        server.end()
    rows = json.loads(run("tc", "-n", NAMESPACE, "-j", "qdisc", "show", "dev", INTERFACE))
    assert [(row["kind"], row["handle"]) for row in rows] == [("pfifo", "9:")]


@pytest.mark.usefixtures("namespace")
def test_one_node_shapes_an_interface(tmp_path: Path) -> None:
    first = Server(tmp_path / "first")
    try:
        first.prepare(TCP)
        second = Server(tmp_path / "second")
        try:
            with pytest.raises(NodeError, match=f"another node shapes {INTERFACE}"):
                second.prepare(TCP)
            second.prepare(HOMA | {"link_bps": 1_000_000})
            assert len(shaped()) == 1  # it is the first one's
        finally:
            second.end()
        assert len(shaped()) == 1
    finally:
        first.end()
