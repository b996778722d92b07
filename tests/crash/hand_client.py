"""One client by hand, for tests that need a certain packet lost: every request is sent once, and
an answer either comes or is missed. Formats from docs/kvcache.md §3.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from turntable_systems.farreach import hosts
from turntable_systems.farreach.placement import FIRST_PORT

from .network import udp_socket
from .rack import Rack
from .read_back import GETREQ, GETRES_SEQ, wire_key

PUTREQ, PUTREQ_LARGEVALUE = 0x0001, 0x02D0
PUTRES_SEQ, GETRES_LARGEVALUE_SEQ = 0x000A, 0x0350
# What the switch makes of a large PUT's first fragment, and of a GET of a superseded slot.
PUTREQ_LARGEVALUE_SEQ, GETREQ_LARGEVALUEBLOCK_RECORD = 0x0032, 0x008B
SWITCH_NODE = 0xFFFF
FRAGMENT_BYTES = 1412  # of a large value in one datagram
LONGEST_DATAGRAM = 2048
ANSWER_S, MISSED_S = 10.0, 0.5
OPTYPE_AT = 14 + 20 + 8


@dataclass(frozen=True)
class Answer:
    value: bytes | None  # None: there is no such record
    number: int
    node: int


def lose(optype: int) -> dict[str, object]:
    """A rule for `impair`."""
    match = {"offset": OPTYPE_AT, "value": f"{optype:04x}", "mask": "ffff"}
    return {"action": "drop", "match": match, "every": 1}


class HandClient:
    """Sends from a host's namespace to a server's UDP port: by default a client to the switch."""

    def __init__(self, rack: Rack, host: str | None = None, port: int = FIRST_PORT) -> None:
        namespace = rack.network.namespace(host or hosts.clients(rack.testbed)[0].name)
        servers = {server.name: server for server in hosts.servers(rack.testbed)}
        self._channel = udp_socket(namespace)
        to = servers[host] if host else hosts.servers(rack.testbed)[0]
        self._channel.connect((to.address, port))
        self._request = 0

    def __enter__(self) -> HandClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def get(self, key: int) -> Answer:
        return self.answer(self.send(GETREQ, key))

    def put(self, key: int, value: bytes) -> int:
        """The write's request; `value` is of whole 8 bytes."""
        rest = struct.pack(">H", len(value)) + value + struct.pack(">H", PUTREQ)
        return self.send(PUTREQ, key, rest)

    def large_put(self, key: int, value: bytes) -> int:
        """Its first fragment, which is the whole of a value of FRAGMENT_BYTES."""
        count = -(-len(value) // FRAGMENT_BYTES)
        fragment = struct.pack(">HIHHI", 5, self._request + 1, 0, count, len(value))
        return self.send(PUTREQ_LARGEVALUE, key, fragment + value[:FRAGMENT_BYTES])

    def rest_of_large_put(self, request: int, key: int, value: bytes) -> None:
        """The other fragments."""
        parts = range(FRAGMENT_BYTES, len(value), FRAGMENT_BYTES)
        for index, begin in enumerate(parts, 1):
            fragment = struct.pack(">HIHH", 5, request, index, 1 + len(parts))
            head = struct.pack(">H16sI", PUTREQ_LARGEVALUE, wire_key(key), request)
            self._channel.send(head + fragment + value[begin : begin + FRAGMENT_BYTES])

    def record_get(self, key: int, value: bytes, number: int, token: int = 0) -> int:
        """As the switch sends it, so only from a server's own host."""
        optype = GETREQ_LARGEVALUEBLOCK_RECORD
        rest = struct.pack(">H", len(value)) + value + struct.pack(">H", optype)
        stat = struct.pack(">BHx", 1, SWITCH_NODE)
        return self.send(optype, key, rest + struct.pack(">II", number, token) + stat)

    def send(self, optype: int, key: int, rest: bytes = b"") -> int:
        self._request += 1
        head = struct.pack(">H16sI", optype, wire_key(key), self._request)
        self._channel.send(head + rest)
        return self._request

    def answer(self, request: int) -> Answer:
        """The next answer, which must be to this request."""
        self._channel.settimeout(ANSWER_S)
        datagram = self._channel.recv(LONGEST_DATAGRAM)
        optype, _, id_ = struct.unpack_from(">H16sI", datagram)
        assert id_ == request, f"request {id_} was answered, expected {request}"
        rest, value = datagram[22:], None
        if optype == GETRES_LARGEVALUE_SEQ:
            return self._large_answer(rest)
        if optype == GETRES_SEQ:
            (length,) = struct.unpack_from(">H", rest)
            value, rest = rest[2 : 2 + length], rest[2 + (length + 7) // 8 * 8 :]
        shadow, number, _, stat, node = struct.unpack_from(">HIIBH", rest)
        assert shadow == optype
        return Answer(value if stat else None, number, node)

    def _large_answer(self, first: bytes) -> Answer:
        """Fragments come in order; `first` is that of the first behind its request."""
        number, _, _, node, _, _, _, count, length = struct.unpack_from(">IIBHxHIHHI", first)
        value = first[26:]
        for _ in range(1, count):
            value += self._channel.recv(LONGEST_DATAGRAM)[44:]
        assert len(value) == length
        return Answer(value, number, node)

    def misses(self) -> None:
        """No answer comes."""
        self._channel.settimeout(MISSED_S)
        try:
            datagram = self._channel.recv(LONGEST_DATAGRAM)
        except TimeoutError:
            return
        raise AssertionError(f"an answer came: {datagram.hex()}")
