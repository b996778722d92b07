"""rpcserver's mode redis: a real redis-server behind it, which ends when the node does."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.kv.nodes import Node, NodeError, running
from tests.kv.ports import free_port

from .conftest import ADDRESS, Server
from .wire import GET, SCAN, WORK, Packet

OBJECTS = 2_000
SERVICE = {
    "GET": {"distribution": "fixed", "us": 20_000},
    "SCAN": {"distribution": "fixed", "us": 60_000},
}


def prepare_redis(server: Server, timing: str = "slots", **changes: Any) -> None:
    redis = {"objects": OBJECTS, "timing": timing}
    server.prepare(**({"mode": "redis", "service": SERVICE, "redis": redis} | changes))


def ask_redis(directory: Path, *words: str) -> bytes:
    """One command by hand, to the redis-server of the node in that run directory."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(10)
        channel.connect(str(directory / "rpcserver.redis.sock"))
        channel.sendall(" ".join(words).encode() + b"\r\n")
        return channel.recv(4096)


def redis_pid(directory: Path) -> int:
    information = ask_redis(directory, "INFO", "server").decode()
    (line,) = (line for line in information.split("\r\n") if line.startswith("process_id:"))
    return int(line.removeprefix("process_id:"))


def redis_calls(directory: Path) -> dict[str, int]:
    """How often redis-server executed a command that reads objects."""
    statistics = ask_redis(directory, "INFO", "commandstats").decode()
    calls = dict(re.findall(r"cmdstat_(\w+):calls=(\d+)", statistics))
    return {name: int(calls.get(name, 0)) for name in ("get", "mget")}


def expect_ended(pid: int, deadline_s: float = 10) -> None:
    end = time.monotonic() + deadline_s
    while Path(f"/proc/{pid}").exists() and "Z" not in _state(pid):
        assert time.monotonic() < end, f"process {pid} still runs"
        time.sleep(0.01)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_objects_have_16_byte_keys_and_64_byte_values(server: Server, tmp_path: Path) -> None:
    prepare_redis(server)
    assert ask_redis(tmp_path, "DBSIZE") == b":2000\r\n"
    key = "object0000001999"
    assert len(key) == 16
    assert ask_redis(tmp_path, "GET", key) == b"$64\r\n" + key.encode() * 4 + b"\r\n"
    assert ask_redis(tmp_path, "CONFIG", "GET", "port").endswith(b"$1\r\n0\r\n")


def test_requests_are_executed_and_take_as_long_as_was_drawn(server: Server) -> None:
    prepare_redis(server, workers=1)
    server.open_window()
    begin = time.monotonic()
    server.send(Packet(request=0, operation=GET, object=5))
    server.send(Packet(request=1, operation=SCAN, object=OBJECTS - 1))  # goes on at 0
    assert [answer.request for answer in server.answers(2)] == [0, 1]
    assert time.monotonic() - begin >= 0.08
    stats = server.stats()
    # How many results were late is the machine's business.
    assert stats["redis"] | {"waited": 0} == {"executed": 2, "waited": 0, "wrong": 0, "failed": 0}
    assert stats["planned_work_ns"] == 80_000_000


def test_results_that_are_not_the_objects_are_counted(server: Server, tmp_path: Path) -> None:
    prepare_redis(server)
    ask_redis(tmp_path, "SET", "object0000000007", "another")
    server.send(Packet(request=0, operation=GET, object=7))
    server.send(Packet(request=1, operation=SCAN, object=0))
    server.send(Packet(request=2, operation=GET, object=8))
    server.answers(3)
    redis = server.stats()["redis"]
    assert (redis["executed"], redis["wrong"]) == (3, 2)


def test_requests_for_no_object_are_malformed(server: Server) -> None:
    prepare_redis(server)
    server.send(Packet(request=0, operation=WORK))
    server.send(Packet(request=1, operation=GET, object=OBJECTS))
    server.send(Packet(request=2, operation=GET, object=OBJECTS - 1))
    assert server.answer().request == 2
    stats = server.stats()
    assert (stats["malformed"], stats["received_total"]) == (2, 1)


def test_dropped_clones_are_not_executed(server: Server) -> None:
    prepare_redis(server, workers=1)
    for number in range(4):
        server.send(Packet(request=number, operation=GET, clo=2))
    server.answers(2)
    stats = server.stats()
    assert (stats["clones_dropped_total"], stats["redis"]["executed"]) == (2, 2)


def test_without_dilation_the_execution_is_the_work(server: Server) -> None:
    prepare_redis(server, timing="real")
    server.open_window(seconds=2)
    for number in range(50):
        server.send(Packet(request=number, operation=SCAN if number % 5 == 0 else GET))
    server.answers(50)
    stats = server.stats()
    assert stats["redis"] == {"executed": 50, "waited": 0, "wrong": 0, "failed": 0}
    assert 0 < stats["planned_work_ns"] < 50 * 20_000_000


def test_calibration_gives_service_times_that_prepare_takes(server: Server, tmp_path: Path) -> None:
    calibrated = server.node.call("calibrate", objects=OBJECTS, gets=300, scans=100)
    service = calibrated["service"]
    counts = {name: sum(count for _, count in part["bins"]) for name, part in service.items()}
    assert counts == {"GET": 300, "SCAN": 100}
    assert all(us > 0 for part in service.values() for us, _ in part["bins"])
    # Which took longer is the machine's affair; what was executed is told by redis-server itself.
    assert redis_calls(tmp_path) == {"get": 300, "mget": 100}
    prepare_redis(server, service=service, dilation=100)
    server.send(Packet(request=0, operation=GET))
    server.answer()
    with pytest.raises(NodeError, match="send `stop` first"):
        server.node.call("calibrate", objects=OBJECTS)


def test_redis_stays_from_one_prepare_to_the_next(server: Server, tmp_path: Path) -> None:
    prepare_redis(server)
    first = redis_pid(tmp_path)
    server.node.call("stop")
    prepare_redis(server)
    assert redis_pid(tmp_path) == first
    server.prepare()  # mode slots
    expect_ended(first)


def test_redis_ends_with_the_node(build_dir: Path, tmp_path: Path) -> None:
    port = free_port()
    options = ("--address", ADDRESS, "--port", str(port))
    with running(build_dir / "bin" / "rpcserver", tmp_path, *options) as node:
        prepare_redis(Server(node, port))
        pid = redis_pid(tmp_path)
    expect_ended(pid)


def test_redis_ends_when_the_node_is_killed(build_dir: Path, tmp_path: Path) -> None:
    port = free_port()
    node = Node(
        build_dir / "bin" / "rpcserver", tmp_path, "--address", ADDRESS, "--port", str(port)
    )
    node.wait_ready()
    prepare_redis(Server(node, port))
    pid = redis_pid(tmp_path)
    os.kill(node.process.pid, signal.SIGKILL)
    node.process.wait()
    expect_ended(pid)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"redis": {"objects": 99, "timing": "slots"}},
            '"objects" is 99; expected an integer from',
        ),
        (
            {"redis": {"objects": 2000, "timing": "fast"}},
            '"timing" is "fast"; expected slots or real',
        ),
        (
            {"redis": {"objects": 2000, "timing": "real"}, "dilation": 2},
            "real Redis cannot be dilated",
        ),
    ],
)
def test_wrong_arguments_are_named(server: Server, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(NodeError) as error:
        prepare_redis(server, **changes)
    assert error.value.code == "bad_argument"
    assert message in error.value.message
