"""kvclient against a server written here from docs/architecture.md §3.

Independently of src/farreach/kv.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator

import pytest

from .nodes import Node

CLIENTS = 4
SCALE = 16
PARTITION = 14
WORKLOAD = {"name": "workloadf", "clients": CLIENTS, "operations": 8_000, "seed": 3}
GETREQ, PUTREQ, GETRES, PUTRES = 0x0030, 0x0001, 0x0009, 0x0008
MS = 1_000_000
LEAD_MS = 500  # for the command before the start, on a busy machine

Operation = tuple[int, bytes]


def partition_of(key: bytes) -> int:
    return zlib.crc32(key) % 32768 // (32768 // SCALE)


class PythonServer:
    """Answers every request and remembers what each logical client asked."""

    def __init__(self) -> None:
        self.operations: dict[tuple[int, int], list[Operation]] = defaultdict(list)
        self.errors: list[str] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.05)
        self.port = self._socket.getsockname()[1]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                datagram, peer = self._socket.recvfrom(2048)
            except TimeoutError:
                continue
            self._socket.sendto(self._answer(datagram, peer[1]), peer)

    def _answer(self, datagram: bytes, port: int) -> bytes:
        optype, key, request_id = struct.unpack_from(">H16sI", datagram)
        rest = datagram[22:]
        if optype == GETREQ and rest:
            self.errors.append(f"GETREQ with {len(rest)} bytes too many")
        if optype == PUTREQ:
            (length,) = struct.unpack_from(">H", rest)
            if (length, rest[-2:], len(rest)) != (100, b"\x00\x01", 2 + 104 + 2):
                self.errors.append(f"PUTREQ: {rest.hex()}")
            if any(rest[102:106]):
                self.errors.append("padding is not zero")
        self.operations[port, request_id >> 20].append((optype, key))
        head = key + struct.pack(">I", request_id)
        if optype == GETREQ:  # absent, from this partition
            return (
                struct.pack(">H", GETRES) + head + struct.pack(">HHBHB", 0, GETRES, 0, PARTITION, 0)
            )
        return struct.pack(">H", PUTRES) + head + struct.pack(">HBHB", PUTRES, 1, PARTITION, 0)


@pytest.fixture(scope="module")
def python_server() -> Iterator[PythonServer]:
    server = PythonServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def traffic(client: Node, python_server: PythonServer) -> dict:
    """The client's statistics of an iteration that replays every trace several times."""
    prepared = client.call(
        "prepare",
        workload=WORKLOAD | {"value_bytes": 100},
        scale=SCALE,
        partitions=[PARTITION],
        first_client=0,
        clients=CLIENTS,
        server_address="127.0.0.1",
        server_port=python_server.port,
    )
    start = time.time_ns() + LEAD_MS * MS
    client.call("start", start_at_ns=start, warmup_ns=0, measure_ns=500 * MS, drain_ns=2_000 * MS)
    client.call("wait", deadline_s=30)
    return client.call("stats") | {"prepared_operations": prepared["operations"]}


def test_packets_are_those_of_the_format(traffic: dict, python_server: PythonServer) -> None:
    assert python_server.errors == []
    assert traffic["malformed"] == traffic["mismatched"] == traffic["wrong_node"] == 0


def test_all_requests_are_counted(traffic: dict, python_server: PythonServer) -> None:
    asked = [operation for trace in python_server.operations.values() for operation in trace]
    assert len(asked) == traffic["partitions"][0]["requests_total"]
    assert traffic["not_found"] == sum(optype == GETREQ for optype, _ in asked)


def test_only_keys_of_the_running_partition(traffic: dict, python_server: PythonServer) -> None:
    keys = {key for trace in python_server.operations.values() for _, key in trace}
    assert {partition_of(key) for key in keys} == {PARTITION}
    assert all(key[:8] == bytes(8) for key in keys)


def test_every_client_replays_its_own_trace_in_a_loop(
    traffic: dict, python_server: PythonServer
) -> None:
    traces = list(python_server.operations.values())
    assert len(traces) == CLIENTS
    periods = [period_of(trace) for trace in traces]
    assert sum(periods) == traffic["prepared_operations"]
    assert len({tuple(trace[:20]) for trace in traces}) == CLIENTS, "two clients replay the same"


def test_stores_hold_exactly_the_keys_asked_for(
    traffic: dict, python_server: PythonServer, server: Node
) -> None:
    loaded = server.call(
        "load",
        workload=WORKLOAD | {"value_bytes": 100},
        scale=SCALE,
        partitions=[PARTITION],
        store_profile="embedded",
    )
    keys = {key for trace in python_server.operations.values() for _, key in trace}
    assert loaded["partitions"][0]["keys"] == len(keys)


def period_of(trace: list[Operation]) -> int:
    """The smallest p with trace[i] = trace[i + p] for all i; fails unless it occurs twice."""
    for period in range(1, len(trace) // 2):
        if trace[period:] == trace[:-period]:
            return period
    pytest.fail(f"{len(trace)} operations do not contain a trace twice")
