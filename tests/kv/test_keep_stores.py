"""A kvserver that is killed while it writes: its successor has everything that was acknowledged."""

from __future__ import annotations

import socket
import struct
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from .conftest import ADDRESS
from .nodes import Node, NodeError
from .ports import free_port

SCALE, PARTITION = 4, 1
WORKLOAD = {"name": "workloada", "clients": 2, "operations": 200, "seed": 1}
STORES = {
    "workload": WORKLOAD,
    "scale": SCALE,
    "store_profile": "embedded",
    "method": "farreach",
}
GETREQ, GETRES_SEQ, PUTREQ_SEQ, PUTRES_SEQ = 0x0030, 0x006B, 0x0003, 0x000A
DELREQ_SEQ, DELRES_SEQ = 0x0002, 0x001A


def keys_of_partition(count: int) -> list[bytes]:
    keys: list[bytes] = []
    number = 0
    while len(keys) < count:
        key = bytes(8) + struct.pack(">Q", number)
        if zlib.crc32(key) % 32768 // (32768 // SCALE) == PARTITION:
            keys.append(key)
        number += 1
    return keys


class Writer:
    """Writes as a switch would, one after the other, until nobody answers any more."""

    def __init__(self, port: int, keys: list[bytes]) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.connect((ADDRESS, port))
        self._keys = keys
        self._number = 0
        self.acknowledged: dict[bytes, tuple[int, bytes | None]] = {}  # number, None: deleted
        self.attempted: dict[bytes, tuple[int, bytes | None]] = {}

    def close(self) -> None:
        self._socket.close()

    def _ask(self, optype: int, key: bytes, rest: bytes = b"") -> bytes:
        self._socket.settimeout(20)
        self._socket.send(struct.pack(">H16sI", optype, key, self._number & 0xFFFFFFFF) + rest)
        return self._socket.recv(2048)

    def write_next(self) -> None:
        self._number += 1
        key = self._keys[self._number % len(self._keys)]
        value = None if self._number % 7 == 0 else struct.pack(">QQ", self._number, 5)
        self.attempted[key] = (self._number, value)
        seq = struct.pack(">II", self._number, 0)
        if value is None:
            answer = self._ask(DELREQ_SEQ, key, struct.pack(">H", DELREQ_SEQ) + seq)
            expected = DELRES_SEQ
        else:
            body = struct.pack(">H", len(value)) + value + struct.pack(">H", PUTREQ_SEQ) + seq
            answer, expected = self._ask(PUTREQ_SEQ, key, body), PUTRES_SEQ
        optype, answered, number = struct.unpack_from(">H16s6xI", answer)
        assert (optype, answered, number) == (expected, key, self._number)
        self.acknowledged[key] = (self._number, value)

    def read(self, key: bytes) -> tuple[int, bytes | None]:
        answer = self._ask(GETREQ, key)
        optype, answered, _, length = struct.unpack_from(">H16sIH", answer)
        assert (optype, answered) == (GETRES_SEQ, key)
        value = answer[24 : 24 + length]
        _, number, _, stat = struct.unpack_from(">HIIB", answer, 24 + (length + 7) // 8 * 8)
        return number, value if stat else None


def prepare(node: Node, port: int, **options: Any) -> None:
    placement = [{"partition": PARTITION, "udp_port": port}]
    node.call("prepare", **STORES, logical_servers=placement, capacity_ops_per_s=0, **options)


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state"


def start(build_dir: Path, tmp_path: Path, state_dir: Path) -> Node:
    node = Node(
        build_dir / "bin" / "kvserver",
        tmp_path,
        "--state-dir",
        str(state_dir),
        "--address",
        ADDRESS,
    )
    node.wait_ready()
    return node


def test_what_a_killed_server_acknowledged_is_there(
    build_dir: Path, tmp_path: Path, state_dir: Path
) -> None:
    port = free_port()
    node = start(build_dir, tmp_path, state_dir)
    node.call("load", **STORES, partitions=[PARTITION])
    prepare(node, port)
    writers = [
        Writer(port, keys) for keys in (keys_of_partition(600)[:300], keys_of_partition(600)[300:])
    ]
    enough = threading.Barrier(3)

    def write(writer: Writer) -> None:
        for _ in range(1000):
            writer.write_next()
        enough.wait(60)
        try:
            while True:
                writer.write_next()
        except OSError:
            return  # the server is dead

    threads = [threading.Thread(target=write, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    enough.wait(60)
    node.process.kill()
    node.process.wait(20)
    for thread in threads:
        thread.join()

    node = start(build_dir, tmp_path, state_dir)
    prepare(node, port, keep_stores=True)
    checked = 0
    for writer in writers:
        for key, written in writer.acknowledged.items():
            # The write that was under way when the server died may have taken effect, too.
            assert writer.read(key) in (written, writer.attempted[key])
            checked += 1
        writer.close()
    assert checked == 600
    # A command too many must not cost the store.
    prepare(node, port, keep_stores=True)
    writer = Writer(port, [])
    key, written = next(iter(writers[0].acknowledged.items()))
    assert writer.read(key) in (written, writers[0].attempted[key])
    prepare(node, port)  # begins anew
    assert writer.read(key)[1] is None
    writer.close()
    node.end()


@pytest.mark.parametrize("by", ["SIGTERM", "shutdown"])
def test_a_server_that_ended_in_order_leaves_its_store(
    build_dir: Path, tmp_path: Path, state_dir: Path, by: str
) -> None:
    port = free_port()
    node = start(build_dir, tmp_path, state_dir)
    node.call("load", **STORES, partitions=[PARTITION])
    prepare(node, port)
    (key,) = keys_of_partition(1)
    writer = Writer(port, [key])
    writer.write_next()
    if by == "SIGTERM":
        node.process.terminate()
    else:
        node.call("shutdown")
    assert node.process.wait(20) == 0

    node = start(build_dir, tmp_path, state_dir)
    prepare(node, port, keep_stores=True)
    assert writer.read(key) == writer.acknowledged[key]
    node.end()
    assert list(state_dir.glob("stores/*/p*/work"))

    # `stop` drops what a process before has left, too.
    node = start(build_dir, tmp_path, state_dir)
    node.call("stop")
    assert not list(state_dir.glob("stores/*/p*/work"))
    with pytest.raises(NodeError, match="no working copy"):
        prepare(node, port, keep_stores=True)
    writer.close()
    node.end()


def test_without_a_store_that_was_left_nothing_is_opened(
    build_dir: Path, tmp_path: Path, state_dir: Path
) -> None:
    node = start(build_dir, tmp_path, state_dir)
    node.call("load", **STORES, partitions=[PARTITION])
    with pytest.raises(NodeError) as caught:
        prepare(node, free_port(), keep_stores=True)
    assert caught.value.code == "not_found"
    assert f"partition {PARTITION} of {SCALE}" in caught.value.message
    assert str(state_dir) in caught.value.message
    prepare(node, free_port())
    node.call("stop")  # in order: nothing is left
    with pytest.raises(NodeError) as caught:
        prepare(node, free_port(), keep_stores=True)
    assert caught.value.code == "not_found"
    node.end()


def test_a_failed_prepare_does_not_cost_the_store(
    build_dir: Path, tmp_path: Path, state_dir: Path
) -> None:
    port = free_port()
    node = start(build_dir, tmp_path, state_dir)
    node.call("load", **STORES, partitions=[PARTITION])
    prepare(node, port)
    (key,) = keys_of_partition(1)
    writer = Writer(port, [key])
    writer.write_next()
    node.process.kill()
    node.process.wait(20)
    node = start(build_dir, tmp_path, state_dir)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as somebody:
        somebody.bind((ADDRESS, port))
        with pytest.raises(NodeError):
            prepare(node, port, keep_stores=True)
    prepare(node, port, keep_stores=True)
    assert writer.read(key) == writer.acknowledged[key]
    writer.close()
    node.end()
