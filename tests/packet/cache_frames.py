"""Packets of the programs with a cache (docs/kvcache.md §3, architecture.md §3), by hand."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from .frames import Packet, mac

GETREQ, PUTREQ, DELREQ, PUTREQ_LARGEVALUE = 0x0030, 0x0001, 0x0040, 0x02D0
GETREQ_POP, GETREQ_NLATEST = 0x0050, 0x00A2
GETREQ_BEINGEVICTED_RECORD, GETREQ_LARGEVALUEBLOCK_RECORD = 0x007B, 0x008B
PUTREQ_SEQ, DELREQ_SEQ, PUTREQ_LARGEVALUE_SEQ, PUTREQ_POP_SEQ = 0x0003, 0x0002, 0x0032, 0x0013
GETRES_LATEST_SEQ, GETRES_DELETED_SEQ = 0x000B, 0x001B
GETRES_SEQ, PUTRES_SEQ, DELRES_SEQ, GETRES_LARGEVALUE_SEQ = 0x006B, 0x000A, 0x001A, 0x0350
PUTREQ_SEQ_CACHED, DELREQ_SEQ_CACHED, PUTREQ_LARGEVALUE_SEQ_CACHED = 0x0043, 0x0022, 0x0042
VALUEUPDATE, VALUEUPDATE_ACK = 0x003B, 0x0190

# Types of a write at the server: plain, while a snapshot is taken, being evicted, both.
PUT_AT_SERVER = (0x0003, 0x0023, 0x0053, 0x0063)
DELETE_AT_SERVER = (0x0002, 0x0012, 0x0062, 0x0072)
LARGE_PUT_AT_SERVER = (0x0032, 0x0052, 0x0082, 0x0092)
HOT_PUT_AT_SERVER = (0x0013, 0x0033)

SWITCH_NODE = 0xFFFF
DELETED = 0x8000
LATEST, ADMITTED, SUPERSEDED = 0x00000000, 0x80000000, 0xC0000000
SET_VALID, ADMIT, LOAD, CASE1, HOT_REPORT = 1, 2, 3, 4, 5
ANSWERED = 0x80
ETHERTYPE_CONTROL = 0x88B5


def padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 8)


def payload(
    optype: int,
    key: bytes,
    *,
    request: int = 7,
    value: bytes = b"",
    seq: tuple[int, int] = (0, 0),
    stat: tuple[int, int] = (1, SWITCH_NODE),
    rest: bytes = b"",
) -> bytes:
    """The chain of headers that the low four bits of the type ask for, then `rest`."""
    chain = struct.pack(">H", optype) + key + struct.pack(">I", request)
    if optype & 1:
        chain += struct.pack(">H", len(value)) + padded(value)
    if optype & 0xF:
        chain += struct.pack(">H", optype)
    if optype & 2:
        chain += struct.pack(">II", *seq)
    if optype & 8:
        chain += struct.pack(">BHx", *stat)
    return chain + rest


def name_of(value: object) -> str | None:
    """For pytest: bodies by their type, everything else by its own name."""
    return value[:2].hex() if isinstance(value, bytes) else None


def fragment(index: int, count: int = 3) -> bytes:
    """fraginfo and some bytes of a large value, in fragment 0 behind its length."""
    head = struct.pack(">HIHH", 5, 77, index, count)
    return head + (struct.pack(">I", 4000) if index == 0 else b"") + bytes(range(200))


@dataclass(frozen=True)
class Control:
    """A frame between agent and data plane; 176 bytes behind Ethernet."""

    operation: int
    slot: int
    key: bytes
    valid: int = 0
    egress_port: int = 2
    frequency: int = 0
    request: int = 0xA6E27
    vallen: int = 0
    value: bytes = b""  # the last bytes of the 128
    cell: int = 0
    token: int = 0
    dst_mac: str = "02:00:00:00:00:0a"
    src_mac: str = "02:00:00:00:00:0b"

    def change(self, **changes: object) -> Control:
        return replace(self, **changes)  # type: ignore[arg-type]

    def __bytes__(self) -> bytes:
        value = padded(self.value)
        return (
            mac(self.dst_mac)
            + mac(self.src_mac)
            + struct.pack(">H", ETHERTYPE_CONTROL)
            + struct.pack(">BBHHI", self.operation, self.valid, self.egress_port, self.slot,
                          self.frequency)
            + struct.pack(">H", 0)
            + self.key
            + struct.pack(">IH", self.request, self.vallen)
            + bytes(128 - len(value))
            + value
            + struct.pack(">II", self.cell, self.token)
        )  # fmt: skip


def value_of(frame: bytes) -> bytes:
    """The 128 bytes of a control frame's value."""
    return frame[14 + 10 + 18 + 4 + 2 :][:128]


def answer_to(request: Packet, server_ip: str, server_mac: str, body: bytes) -> Packet:
    """What the switch makes of a request: turned round, from the first server."""
    return request.change(
        src_mac=server_mac,
        dst_mac=request.src_mac,
        src_ip=server_ip,
        dst_ip=request.src_ip,
        src_port=1152,
        dst_port=request.src_port,
        udp_checksum=0,
        payload=body,
    )
