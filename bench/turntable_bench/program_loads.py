"""Entries and frames for the programs of bench/programs, and how SWX reads entries."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

from .namespaces import CLIENT_ADDRESS, CLIENT_MAC, SERVER_ADDRESS, SERVER_MAC

# An exact value, {"value", "prefix_len"}, {"value", "mask"} or {"low", "high"}.
KeyValue = int | Mapping[str, int]

CLIENT_PORT, SERVER_PORT = 1, 2  # of the switch
PAIRS = 256  # of addresses that talk to each other; the first two are the hosts over veth
UDP_PORTS = (40000, 40001, 40002, 40003)
FLOWS = 6  # instances of the control Flow of large.p4
FRAME_BYTES = 64


@dataclass(frozen=True)
class Update:
    """One entry to insert, with the names of the program's schema."""

    table: str
    key: Mapping[str, KeyValue]
    action: str
    data: Mapping[str, int] = field(default_factory=dict)
    priority: int | None = None  # of ternary and range keys: the lowest wins

    def as_table_write(self) -> dict[str, Any]:
        update = {"op": "insert", "table": self.table, "key": self.key}
        if self.priority is not None:
            update["priority"] = self.priority
        return {**update, "action": self.action, "data": self.data}

    def as_swx_entry(self) -> str:
        """A line for rte_swx_ctl_pipeline_table_entry_read(); exact keys only."""
        arguments = " ".join(f"{name} {value:#x}" for name, value in self.data.items())
        match = " ".join(f"{value:#x}" for value in self.key.values())
        return f"match {match} action {self.action} {arguments}\n"


@dataclass(frozen=True)
class Load:
    """What a program is set up with, and frames (from the client's port) that all are forwarded."""

    updates: Sequence[Update]
    frames: Sequence[bytes]

    def commands(self) -> list[dict[str, Any]]:
        updates = [update.as_table_write() for update in self.updates]
        return [{"command": "table_write", "args": {"updates": updates}}]

    def swx_entries(self) -> dict[str, str]:
        """The entries of every table, one a line."""
        tables: dict[str, str] = {}
        for update in self.updates:
            tables[update.table] = tables.get(update.table, "") + update.as_swx_entry()
        return tables


def address(text: str) -> int:
    return int(IPv4Address(text))


def mac(text: str) -> int:
    return int(text.replace(":", ""), 16)


def address_pairs(count: int) -> list[tuple[int, int]]:
    """The hosts of the namespaces in both directions, then others."""
    client, server = address(CLIENT_ADDRESS), address(SERVER_ADDRESS)
    sources, destinations = address("198.18.0.1"), address("198.18.128.1")
    others = ((sources + i, destinations + i) for i in itertools.count())
    return [(client, server), (server, client), *itertools.islice(others, count - 2)]


def udp_frame(pair: tuple[int, int], udp_port: int = UDP_PORTS[0], to: str = SERVER_MAC) -> bytes:
    """An Ethernet frame without options and, as loads in memory may, without checksums."""
    source, destination = pair
    udp_bytes = FRAME_BYTES - 14 - 20
    ethernet = mac(to).to_bytes(6, "big") + mac(CLIENT_MAC).to_bytes(6, "big") + b"\x08\x00"
    ipv4 = b"\x45\0" + (20 + udp_bytes).to_bytes(2, "big") + bytes.fromhex("0000000040110000")
    addresses = source.to_bytes(4, "big") + destination.to_bytes(4, "big")
    udp = b"".join(n.to_bytes(2, "big") for n in (udp_port, 1152, udp_bytes, 0))
    return (ethernet + ipv4 + addresses + udp).ljust(FRAME_BYTES, b"\0")


def destinations(table: str) -> list[Update]:
    """Where the hosts over veth are, among other addresses."""
    known = {mac(CLIENT_MAC): CLIENT_PORT, mac(SERVER_MAC): SERVER_PORT}
    others = {mac("02:00:00:01:00:00") + i: SERVER_PORT for i in range(PAIRS - len(known))}
    return [
        Update(table, {"dst_addr": key}, "forward", {"port": port})
        for key, port in {**known, **others}.items()
    ]


def trivial() -> Load:
    updates = destinations("destination")
    addresses = [f"{update.key['dst_addr']:012x}" for update in updates]
    pair = address_pairs(2)[0]
    return Load(updates, shuffled(udp_frame(pair, to=text) for text in addresses))


def three_tables() -> Load:
    """1,024 pairs of addresses, each with a route of its own, and 256 next hops."""
    pairs, hops = address_pairs(1024), 256
    updates: list[Update] = []
    for i, (source, destination) in enumerate(pairs):
        pair = {"src_addr": source, "dst_addr": destination}
        updates.append(Update("pairs", pair, "classify", {"diffserv": i % 64}))
        route = {"next_hop": 1 + i % hops}
        updates.append(Update("routes", {"dst_addr": destination}, "route", route))
    first_mac = mac("02:00:00:02:00:00")
    for i in range(hops):
        to = {"port": SERVER_PORT, "dst_addr": first_mac + i}
        updates.append(Update("neighbors", {"next_hop": 1 + i}, "forward", to))
    return Load(updates, shuffled(udp_frame(pair) for pair in pairs))


def large() -> Load:
    updates = [
        *destinations("destination"),
        *itertools.chain.from_iterable(_flow(f"flow{n}", n) for n in range(1, FLOWS + 1)),
        *(
            Update("accounting", {"egress_port": port}, "set_port", {"index": port})
            for port in range(1, 9)
        ),
    ]
    pairs = address_pairs(PAIRS)
    return Load(updates, shuffled(udp_frame(*flow) for flow in itertools.product(pairs, UDP_PORTS)))


def _flow(instance: str, number: int) -> Iterator[Update]:
    """The entries of one Flow: every packet hits each of its tables."""
    for i, (source, destination) in enumerate(address_pairs(PAIRS)):
        key = {"src_addr": source, "dst_addr": destination}
        yield Update(f"{instance}.hosts", key, f"{instance}.set_pair", {"index": i})
    for i, (text, length) in enumerate(_prefixes()):
        prefix = {"value": address(text), "prefix_len": length}
        yield Update(
            f"{instance}.prefixes", {"dst_addr": prefix}, f"{instance}.set_group", {"index": i}
        )
    # Rows that nothing matches come before the one that everything does.
    for i in range(8):
        last = i == 7
        key = {
            "mark": {"value": 0 if last else 512 + i, "mask": 0 if last else 0x3FF},
            "src_addr": {"value": address("198.0.0.0"), "mask": 0xFF000000},
            "dst_port": {"low": 1024 if last else 1, "high": 65535 if last else 1023},
        }
        data = {"mark": number}
        yield Update(f"{instance}.policy", key, f"{instance}.set_mark", data, priority=i + 1)


def _prefixes() -> Iterator[tuple[str, int]]:
    """Of four lengths. Packets match /24 or /16; of /32 there are others' only."""
    yield from ((f"203.0.113.{i}", 32) for i in range(16))
    yield from (("198.19.254.0", 24), ("198.18.128.0", 24), ("198.18.0.0", 16), ("198.0.0.0", 8))


def shuffled(frames: Iterable[bytes]) -> list[bytes]:
    """In an order that is the same in every run."""
    result = list(frames)
    random.Random(1).shuffle(result)
    return result


LOADS = {"trivial": trivial, "three_tables": three_tables, "large": large}
