"""Reads keys through the switch, as a client of its own, and writes what it saw as a history.

Formats by hand from docs/kvcache.md §3 and docs/history-format.md.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .network import udp_socket

GETREQ, GETRES_SEQ, GETRES_LARGEVALUE_SEQ = 0x0030, 0x006B, 0x0350
WINDOW = 64  # keys asked for at a time
TIMEOUT_S, DEADLINE_S = 0.2, 30.0
FIRST_CLIENT = 1_000_000  # beyond those of any run
LONGEST_DATAGRAM = 2048


@dataclass
class _Asked:
    key: int
    client: int
    sends_ns: list[int] = field(default_factory=list)


def read_back(namespace: str, server: tuple[str, int], keys: Iterable[int], file: Path) -> None:
    """Asks for every key until it is answered, from inside `namespace`; writes `file`."""
    with udp_socket(namespace) as channel, file.open("w") as out:
        channel.connect(server)
        channel.setblocking(False)
        out.write('{"history":1}\n')
        _Reader(channel, list(keys)).run(out)


class _Reader:
    def __init__(self, channel: socket.socket, keys: list[int]) -> None:
        self._channel = channel
        self._keys = keys[::-1]
        self._free = list(range(WINDOW))
        self._asked: dict[int, _Asked] = {}  # by request id
        self._next_request = 1

    def run(self, out: Any) -> None:
        end = time.monotonic() + DEADLINE_S
        while self._keys or self._asked:
            while self._keys and self._free:
                self._ask(_Asked(self._keys.pop(), FIRST_CLIENT + self._free.pop()))
            ready, _, _ = select.select([self._channel], [], [], TIMEOUT_S)
            if ready:
                self._receive(out)
            self._ask_again()
            if time.monotonic() > end:
                left = [asked.key for asked in self._asked.values()]
                raise TimeoutError(f"no answer within {DEADLINE_S} s for keys {left}")

    def _ask(self, asked: _Asked) -> None:
        """Every transmission has an id of its own."""
        asked.sends_ns.append(time.time_ns())
        self._asked[self._next_request] = asked
        self._channel.send(struct.pack(">H16sI", GETREQ, wire_key(asked.key), self._next_request))
        self._next_request += 1

    def _ask_again(self) -> None:
        late_ns = time.time_ns() - int(TIMEOUT_S * 1e9)
        late = [(id_, asked) for id_, asked in self._asked.items() if asked.sends_ns[-1] < late_ns]
        for request, asked in late:
            del self._asked[request]
            self._ask(asked)

    def _receive(self, out: Any) -> None:
        while True:
            try:
                datagram = self._channel.recv(LONGEST_DATAGRAM)
            except BlockingIOError:
                return
            now_ns = time.time_ns()
            (request,) = struct.unpack_from(">I", datagram, 18)
            if request not in self._asked or not (answer := _answer_of(datagram)):
                continue
            asked = self._asked.pop(request)
            assert datagram[2:18] == wire_key(asked.key)
            line = {
                "client": asked.client,
                "key": asked.key,
                "op": "get",
                "invoke_ns": asked.sends_ns[0],
                "sends_ns": asked.sends_ns,
                "response_ns": now_ns,
            }
            out.write(json.dumps(line | answer) + "\n")
            self._free.append(asked.client - FIRST_CLIENT)


def _answer_of(datagram: bytes) -> dict[str, Any] | None:
    """None: not the beginning of an answer."""
    (optype,) = struct.unpack_from(">H", datagram)
    rest = datagram[22:]
    if optype == GETRES_SEQ:
        (length,) = struct.unpack_from(">H", rest)
        value = rest[2 : 2 + length]
        tail = rest[2 + (length + 7) // 8 * 8 + 2 :]
    elif optype == GETRES_LARGEVALUE_SEQ:
        (index,) = struct.unpack_from(">H", rest, 18)
        if index != 0:
            return None
        value, tail = rest[26:34], rest
    else:
        raise ValueError(f"an answer of type 0x{optype:04x}")
    number, _, stat, node = struct.unpack_from(">IIBH", tail)
    version = struct.unpack(">Q", value[:8])[0] if stat else None
    return {"version": version, "number": number, "node": node, "found": stat != 0}


def wire_key(key: int) -> bytes:
    """Eight zero bytes, the low word, the high word with its halves swapped."""
    low, high = key & 0xFFFFFFFF, key >> 32
    return bytes(8) + struct.pack(">IHH", low, high & 0xFFFF, high >> 16)
