"""A client of the cache-controller that has copies of records (src/farreach/cache/messages.h)."""

from __future__ import annotations

import bisect
import itertools
import socket
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from .handshake import prove

VERSION = 4
CLIENT_HELLO, COPIES, ANSWER = 0x05, 0x18, 0x80
KEY_BYTES = 16

_clients = itertools.count(1)


@dataclass(frozen=True)
class Copy:
    """A record that the switch answered for; without a value, a delete."""

    key: bytes
    number: int
    value: bytes | None

    def encoded(self) -> bytes:
        value = self.value or b""
        kind = 1 if self.value is None else 0
        return self.key + struct.pack(">BIH", kind, self.number, len(value)) + value


def message(kind: int, number: int, numbers: Sequence[int], records: Sequence[bytes]) -> bytes:
    """The bytes of a message without a text, for no store."""
    body = struct.pack(f">BIIHI{len(numbers)}II", kind, number, 0, 0, len(numbers), *numbers,
                       len(records)) + b"".join(records)  # fmt: skip
    return struct.pack(">I", len(body)) + body


class CopiesClient:
    """Answers COPIES, on a thread of its own, until close(). `channel` is connected to the
    controller, whose run has `secret`; all other requests are answered as done.
    """

    def __init__(self, channel: socket.socket, secret: str, copies: Sequence[Copy]) -> None:
        ordered = sorted(copies, key=lambda copy: copy.key)
        self._keys = [copy.key for copy in ordered]
        self._records = [copy.encoded() for copy in ordered]
        self._channel = channel
        self._thread = threading.Thread(target=self._serve, daemon=True)
        prove(channel, secret, f"copies client {next(_clients)}")
        channel.sendall(message(CLIENT_HELLO, 1, [VERSION], []))
        self._thread.start()

    def close(self) -> None:
        self._channel.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._channel.close()

    def _serve(self) -> None:
        with self._channel.makefile("rb") as stream:
            while header := stream.read(4):
                body = stream.read(int.from_bytes(header, "big"))
                if not body[0] & ANSWER:
                    self._channel.sendall(self._answer(body))

    def _answer(self, body: bytes) -> bytes:
        kind, number, _, text_bytes = struct.unpack_from(">BIIH", body)
        at = 11 + text_bytes
        (count,) = struct.unpack_from(">I", body, at)
        numbers = struct.unpack_from(f">{count}I", body, at + 4)
        (records,) = struct.unpack_from(">I", body, at + 4 + 4 * count)
        first = at + 8 + 4 * count
        if kind != COPIES:
            return message(kind | ANSWER, number, [], [])
        begin = 0
        if records:
            begin = bisect.bisect_right(self._keys, body[first : first + KEY_BYTES])
        return message(kind | ANSWER, number, [], self._records[begin : begin + numbers[0]])
