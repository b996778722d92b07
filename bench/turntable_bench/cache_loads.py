"""FarReach with a full cache: entries, registers and frames, as switch-agent would leave them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .namespaces import CLIENT_ADDRESS, CLIENT_MAC, SERVER_ADDRESS, SERVER_MAC, UDP_PORT
from .program_loads import CLIENT_PORT, SERVER_PORT, address, mac, shuffled

PROGRAM = "farreach"
CACHED = 10_000
VALUE_BYTES = 128
# docs/kvcache.md, section 3; a key's bytes are any, but the first is that of the load over veth.
GETREQ, PUTREQ = 0x0030, 0x0001
MARK_OFFSET = 18  # the request's id, of 4 bytes
GET_BYTES = 22
_FIRST_SESSION, _INGRESS, _EGRESS = 2, "pipe.SwitchIngress.", "pipe.SwitchEgress."

Command = dict[str, Any]


@dataclass(frozen=True)
class CacheLoad:
    """Frames of one kind, from the client's port."""

    commands: Sequence[Command]
    frames: Sequence[bytes]


def key(number: int) -> bytes:
    return struct.pack(">QQ", 0, number)


def get_hits() -> CacheLoad:
    return CacheLoad(commands(), _frames(GETREQ, range(CACHED)))


def put_hits() -> CacheLoad:
    return CacheLoad(commands(), _frames(PUTREQ, range(CACHED)))


def get_misses() -> CacheLoad:
    """Half of them are looked at for hot keys, of which there are none."""
    return CacheLoad(commands(), _frames(GETREQ, range(CACHED, 2 * CACHED)))


CACHE_LOADS = {"GET hit": get_hits, "PUT hit": put_hits, "GET miss": get_misses}


def commands() -> list[Command]:
    """All keys are cached with values of 128 bytes, valid and the newest."""
    registers = {"valid": 1, "slot_seq": 1, "vallen": VALUE_BYTES}
    registers |= {f"values.value_{i}": 0x01020304 for i in range(VALUE_BYTES // 4)}
    return [
        {"command": "table_write", "args": {"updates": [*_partition(), *_cache()]}},
        *(
            {
                "command": "register_write",
                "args": {
                    "table": f"{_EGRESS}{name}.cells",
                    "first": 0,
                    "values": [value] * CACHED,
                },
            }
            for name, value in registers.items()
        ),
    ]


def sessions() -> Command:
    """Of the whole switch, which a program alone has not: where mirror copies go."""
    data = {"$session_enable": True, "$direction": "EGRESS",
            "$ucast_egress_port": CLIENT_PORT, "$ucast_egress_port_valid": True}  # fmt: skip
    update = {"op": "upsert", "table": "$mirror.cfg", "key": {"$sid": _FIRST_SESSION}, "data": data}
    return {"command": "table_write", "args": {"updates": [update]}}


def _partition() -> list[dict[str, Any]]:
    """One partition at the server."""
    slots = {"slot": {"low": 0, "high": 32767}}
    server = {"mac": SERVER_MAC, "ip": SERVER_ADDRESS, "udp_port": UDP_PORT}
    routes = ((CLIENT_ADDRESS, CLIENT_PORT, CLIENT_MAC), (SERVER_ADDRESS, SERVER_PORT, SERVER_MAC))
    return [
        _entry("request_partition.request_partition", slots, "to_server",
               {"port": SERVER_PORT, **server}),
        _entry("answer_partition.answer_partition", slots, "from_first_server", server),
        *(_entry("forwarding.ipv4_lpm", {"dst_addr": {"value": ip, "prefix_len": 32}}, "forward",
                 {"port": port, "mac": host})
          for ip, port, host in routes),
        _entry("server_port.server_port", {"ingress_port": SERVER_PORT}, "from_server", {}),
        {"op": "set_default", "table": f"{_EGRESS}answer_source.answer_source",
         "action": "from_first_server", "data": server},
    ]  # fmt: skip


def _cache() -> list[dict[str, Any]]:
    names = ("keylolo", "keylohi", "keyhilo", "keyhihilo", "keyhihihi")
    return [
        _entry("client_session.client_session", {"client_addr": CLIENT_ADDRESS}, "answer_by",
               {"session": _FIRST_SESSION}),
        _entry("sampling.sampling", {"random": {"low": 0, "high": 32767}}, "sample", {}),
        *(_entry("cache_lookup.cache_lookup",
                 dict(zip(names, struct.unpack(">IIIHH", key(slot)), strict=True)), "cached_at",
                 {"slot": slot})
          for slot in range(CACHED)),
    ]  # fmt: skip


def _entry(table: str, match: dict[str, Any], action: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "op": "insert", "table": _INGRESS + table, "key": match, "action": action, "data": data,
    }  # fmt: skip


def _frames(optype: int, keys: range) -> list[bytes]:
    value = bytes(range(VALUE_BYTES)) if optype == PUTREQ else b""
    return shuffled(_frame(_request(optype, key(number), value)) for number in keys)


def _request(optype: int, wire_key: bytes, value: bytes) -> bytes:
    chain = struct.pack(">H", optype) + wire_key + struct.pack(">I", 7)
    if value:
        chain += struct.pack(">H", len(value)) + value + struct.pack(">H", optype)
    return chain


def _frame(payload: bytes) -> bytes:
    """Without checksums, as loads in memory may be."""
    ethernet = mac(SERVER_MAC).to_bytes(6, "big") + mac(CLIENT_MAC).to_bytes(6, "big") + b"\x08\x00"
    ipv4 = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0,
                       address(CLIENT_ADDRESS), address(SERVER_ADDRESS))  # fmt: skip
    udp = struct.pack(">HHHH", 40000, UDP_PORT, 8 + len(payload), 0)
    return ethernet + ipv4 + udp + payload
