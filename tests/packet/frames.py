"""Frames by hand: every byte is put in place here, with struct and the arithmetic of RFC 1071."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field, replace

GETREQ, PUTREQ, DELREQ = 0x0030, 0x0001, 0x0040
GETRES, PUTRES, DELRES = 0x0009, 0x0008, 0x0018
WARMUPREQ, LOADREQ = 0x0000, 0x0310

ETHERTYPE_IPV4, ETHERTYPE_ARP, ETHERTYPE_IPV6 = 0x0800, 0x0806, 0x86DD
TCP, UDP = 6, 17
SLOTS = 32768


def mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def ipv4(text: str) -> bytes:
    return bytes(int(part) for part in text.split("."))


def checksum(header: bytes) -> int:
    """The ones' complement of the ones' complement sum of 16-bit words (RFC 1071)."""
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def slot_of(key: bytes) -> int:
    return zlib.crc32(key) % SLOTS


@dataclass(frozen=True)
class Packet:
    """Ethernet, IPv4 and what follows; `bytes()` computes lengths and the IPv4 checksum."""

    src_mac: str = "02:00:00:00:00:c1"
    dst_mac: str = "02:00:00:00:00:51"
    src_ip: str = "198.18.0.11"
    dst_ip: str = "198.18.0.1"
    protocol: int = UDP
    diffserv: int = 0
    identification: int = 0x1234
    ttl: int = 64
    flags_and_fragment: int = 0x4000  # don't fragment
    options: bytes = b""
    src_port: int = 40000
    dst_port: int = 1152
    udp_checksum: int = 0xBEEF
    payload: bytes = field(default=b"", repr=False)
    header_checksum: int | None = None  # None: the right one

    def change(self, **changes: object) -> Packet:
        return replace(self, **changes)  # type: ignore[arg-type]

    def __bytes__(self) -> bytes:
        body = self.payload
        if self.protocol == UDP and self.flags_and_fragment & 0x1FFF == 0:
            ports = struct.pack(">HH", self.src_port, self.dst_port)
            body = ports + struct.pack(">HH", 8 + len(body), self.udp_checksum) + body
        length = 20 + len(self.options) + len(body)
        start = struct.pack(
            ">BBHHHBB",
            0x40 | (5 + len(self.options) // 4),
            self.diffserv,
            length,
            self.identification,
            self.flags_and_fragment,
            self.ttl,
            self.protocol,
        )
        addresses = ipv4(self.src_ip) + ipv4(self.dst_ip)
        value = self.header_checksum
        if value is None:
            value = checksum(start + addresses + self.options)
        header = start + struct.pack(">H", value) + addresses + self.options
        ethernet = mac(self.dst_mac) + mac(self.src_mac) + struct.pack(">H", ETHERTYPE_IPV4)
        return ethernet + header + body


def key_value(optype: int, key: bytes, rest: bytes = b"\x00\x00\x00\x07") -> bytes:
    """UDP payload: the op header, then the request id and whatever the type carries."""
    assert len(key) == 16
    return struct.pack(">H", optype) + key + rest


def put_payload(key: bytes, value: bytes) -> bytes:
    """A PUTREQ: op, request id, value length, value, shadow type (docs/architecture.md §3)."""
    rest = struct.pack(">IH", 99, len(value)) + value + struct.pack(">H", PUTREQ)
    return key_value(PUTREQ, key, rest)


def key_with_slot(low: int, high: int | None = None) -> bytes:
    """The first key of the form 0…n whose slot lies in [low, high]."""
    number = 0
    while not low <= slot_of(number.to_bytes(16, "big")) <= (low if high is None else high):
        number += 1
    return number.to_bytes(16, "big")
