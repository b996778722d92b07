"""NetClone's frames by hand (NetClone reference §2): seven words of 32 bits, big-endian, then the
24 bytes that only hosts know.
"""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass

from .frames import Packet
from .nocache_tables import Host

REQUEST, RESPONSE = 0, 1
FIRST_PORT = 1000  # UDP, of server 0
CLIENT_PORT = 40000
TRAILER = bytes(range(0xA0, 0xA0 + 24))


@dataclass(frozen=True)
class Header:
    op: int
    seq: int = 0
    grp: int = 0
    sid: int = 0
    load: int = 0
    clo: int = 0
    tidx: int = 0

    def __bytes__(self) -> bytes:
        return struct.pack(">7I", *astuple(self))


def header_of(frame: bytes) -> Header:
    """Of a frame without IPv4 options: it is behind 14 + 20 + 8 bytes."""
    return Header(*struct.unpack_from(">7I", frame, 42))


def request(client: Host, to: Host, header: Header, udp_port: int = FIRST_PORT) -> Packet:
    return Packet(
        src_mac=client.mac,
        dst_mac=to.mac,
        src_ip=client.ip,
        dst_ip=to.ip,
        src_port=CLIENT_PORT,
        dst_port=udp_port,
        payload=bytes(header) + TRAILER,
    )


def response(server: Host, client: Host, header: Header, udp_port: int) -> Packet:
    return Packet(
        src_mac=server.mac,
        dst_mac="02:00:00:00:00:ee",
        src_ip=server.ip,
        dst_ip=client.ip,
        src_port=udp_port,
        dst_port=CLIENT_PORT,
        payload=bytes(header) + TRAILER,
    )
