"""kvclient and kvserver stay connected through the death of the cache-controller."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .conftest import ADDRESS
from .nodes import Node, running
from .ports import free_port

DEADLINE_S = 20
WORKLOAD = {"name": "workloada", "clients": 4, "operations": 400, "seed": 1}
CLIENT = {
    "workload": WORKLOAD,
    "scale": 4,
    "partitions": [1],
    "first_client": 0,
    "clients": 4,
    "server_address": ADDRESS,
    "copies_max": 1000,
}


def free_tcp_port() -> int:
    while True:
        port = free_port()
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((ADDRESS, port))
            return port


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)  # waits: interval of a probe with a deadline


@contextlib.contextmanager
def controller(build_dir: Path, directory: Path, port: int) -> Iterator[Node]:
    options = ("--address", ADDRESS, "--port", str(port))
    with running(build_dir / "bin" / "cache-controller", directory, *options) as node:
        yield node


def connected_clients(node: Node) -> Any:
    return node.call("stats")["clients"]


def test_a_client_connects_and_comes_back(build_dir: Path, client: Node, tmp_path: Path) -> None:
    port = free_tcp_port()
    endpoint = {"address": ADDRESS, "port": port}
    client.call("prepare", **CLIENT, controller=endpoint)  # nobody listens yet
    for _ in range(2):
        with controller(build_dir, tmp_path, port) as node:
            wait_until(lambda node=node: connected_clients(node) == 1)
            stats = node.call("stats")
            assert stats["servers"] == []
            assert stats["refused_hellos"] == 0
    with controller(build_dir, tmp_path, port) as node:
        wait_until(lambda: connected_clients(node) == 1)
        client.call("prepare", **CLIENT)  # without one: it leaves
        wait_until(lambda: connected_clients(node) == 0)
