"""One client that asks for one thing at a time, so that a test says what happens when.

Formats by hand from docs/architecture.md §3 and docs/kvcache.md §3.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from turntable_systems.farreach import hosts
from turntable_systems.farreach.placement import FIRST_PORT

from .network import CLIENT, udp_socket
from .rack import DEADLINE_S, SCALE, Rack
from .read_back import wire_key

GETREQ, PUTREQ, GETRES_SEQ, PUTRES_SEQ = 0x0030, 0x0001, 0x006B, 0x000A
SWITCH_NODE = 0xFFFF
ANSWER_S = 0.2  # an answer that takes longer is not waited for
HASH_SLOTS = 32_768


@dataclass(frozen=True)
class Answer:
    number: int
    value: bytes
    node: int  # who answered: SWITCH_NODE, or a partition


class Asker:
    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._request = 0

    def get(self, key: int) -> Answer:
        """Asks until there is an answer."""
        answer = self._until_answered(GETREQ, key, b"")
        (length,) = struct.unpack_from(">H", answer)
        padded = (length + 7) // 8 * 8
        number, _, _, node = struct.unpack_from(">IIBH", answer, 2 + padded + 2)
        return Answer(number, answer[2 : 2 + length], node)

    def put(self, key: int, value: bytes) -> int:
        """Asks until there is an answer -> the write's number."""
        return self._number(self._until_answered(PUTREQ, key, value))

    def try_put(self, key: int, value: bytes) -> int | None:
        """Asks once; None: nobody has answered."""
        answer = self._ask(PUTREQ, key, value)
        return None if answer is None else self._number(answer)

    def send_get(self, key: int) -> None:
        """Asks for the sake of the switch, and does not wait."""
        self._send(GETREQ, key, b"")

    @staticmethod
    def _number(put_answer: bytes) -> int:
        return struct.unpack_from(">I", put_answer, 2)[0]

    def _until_answered(self, optype: int, key: int, value: bytes) -> bytes:
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            if (answer := self._ask(optype, key, value)) is not None:
                return answer
        raise TimeoutError(f"no answer to type 0x{optype:04x} within {DEADLINE_S} s")

    def _send(self, optype: int, key: int, value: bytes) -> None:
        """Every transmission has an id of its own."""
        self._request += 1
        message = struct.pack(">H", optype) + wire_key(key) + struct.pack(">I", self._request)
        if optype == PUTREQ:
            message += struct.pack(">H", len(value)) + value + bytes(-len(value) % 8)
            message += struct.pack(">H", optype)
        self._channel.send(message)

    def _ask(self, optype: int, key: int, value: bytes) -> bytes | None:
        """What follows the request id of the answer."""
        self._send(optype, key, value)
        end = time.monotonic() + ANSWER_S
        while (left := end - time.monotonic()) > 0:
            self._channel.settimeout(left)
            with contextlib.suppress(TimeoutError):
                answer = self._channel.recv(2048)
                if struct.unpack_from(">I", answer, 18) == (self._request,):
                    assert struct.unpack_from(">H", answer)[0] in (GETRES_SEQ, PUTRES_SEQ)
                    return answer[22:]
        return None


@contextlib.contextmanager
def asker(rack: Rack) -> Iterator[Asker]:
    """A client beside the rack's own."""
    with udp_socket(rack.network.namespace(CLIENT)) as channel:
        channel.connect((hosts.servers(rack.testbed)[0].address, FIRST_PORT))
        yield Asker(channel)


def keys_of(partition: int) -> Iterator[int]:
    """Ids of keys that no trace uses, all of this partition."""
    for key in range(1 << 40, 1 << 41):
        if zlib.crc32(wire_key(key)) % HASH_SLOTS // (HASH_SLOTS // SCALE) == partition:
            yield key
