"""NetClone's packets and the nodes' random numbers, written again from docs/netclone.md §2, §4."""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass

_FORMAT = ">7I QQ HBBI"
PACKET_BYTES = 52

REQUEST, RESPONSE = 0, 1
WORK, GET, SCAN, PROBE = range(4)
SERVICE, JITTER = 6, 7  # streams of random numbers

_MASK = 2**64 - 1


@dataclass(frozen=True)
class Packet:
    op: int = REQUEST
    seq: int = 0
    grp: int = 0
    sid: int = 0
    load: int = 0
    clo: int = 0
    tidx: int = 0
    request: int = 0
    sent_at_ns: int = 0
    client: int = 0
    operation: int = WORK
    flags: int = 0
    object: int = 0

    def __bytes__(self) -> bytes:
        return struct.pack(_FORMAT, *astuple(self))


def packet_of(datagram: bytes) -> Packet:
    return Packet(*struct.unpack(_FORMAT, datagram))


def request_id(client: int, number: int) -> int:
    return client << 48 | number


def _step(state: int) -> int:
    """splitmix64."""
    z = (state + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _MASK
    return z ^ z >> 31


def uniform(seed: int, stream: int, request: int, copy: int = 0) -> float:
    bits = _step(_step(_step(seed) ^ (stream << 32 | copy)) ^ request)
    return (bits >> 11) * 2**-53
