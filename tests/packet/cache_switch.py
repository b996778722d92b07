"""A program with a cache, its control plane's entries, and shorthand for what tests send to it."""

from __future__ import annotations

import struct
from typing import Any

from turntable_systems.farreach.p4_numbers import WITH_CASE3, Outcome

from .cache_frames import (
    ADMIT,
    ANSWERED,
    LOAD,
    SET_VALID,
    Control,
    answer_to,
)
from .frames import Packet, key_with_slot
from .nocache_tables import (
    CLIENT,
    DROPS,
    SERVER0,
    SERVER1,
    Host,
    all_entries,
    server_of,
    slots,
)
from .targets import Frame, Target

OTHER_CLIENT = Host(4, "02:00:00:00:00:c2", "198.18.0.12")
STRANGER_IP = "198.18.0.99"  # a client that nobody installed a session for
CPU_PORT = 64
CACHE_PORTS = [SERVER0.port, SERVER1.port, CLIENT.port, OTHER_CLIENT.port, CPU_PORT]

PARTITION = 3
KEY = key_with_slot(*slots(PARTITION))
SLOT = 4711
NO_SESSION = 8


def entry(table: str, key: dict[str, Any], action: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"op": "insert", "table": table, "key": key, "action": action, "data": data}


def default(table: str, action: str, **data: Any) -> dict[str, Any]:
    return {"op": "set_default", "table": table, "action": action, "data": data}


def mirror(session: int, port: int) -> dict[str, Any]:
    data = {"$session_enable": True, "$direction": "EGRESS", "$ucast_egress_port": port,
            "$ucast_egress_port_valid": True}  # fmt: skip
    return {"op": "upsert", "table": "$mirror.cfg", "key": {"$sid": session}, "data": data}


def key_fields(key: bytes) -> dict[str, int]:
    names = ("keylolo", "keylohi", "keyhilo", "keyhihilo", "keyhihihi")
    return dict(zip(names, struct.unpack(">IIIHH", key), strict=True))


class CacheSwitch:
    """The switch with 16 partitions, two clients and an empty cache; no request is sampled."""

    def __init__(self, target: Target) -> None:
        self.target = target
        tables = ("cache_lookup", "client_session", "control_port", "sampling")
        self.write(
            *all_entries(),
            entry("ipv4_lpm", {"dst_addr": {"value": OTHER_CLIENT.ip, "prefix_len": 32}},
                  "forward", {"port": OTHER_CLIENT.port, "mac": OTHER_CLIENT.mac}),
            *({"op": "clear", "table": table} for table in tables),
            entry("client_session", {"client_addr": CLIENT.ip}, "answer_by", {"session": 2}),
            entry("client_session", {"client_addr": OTHER_CLIENT.ip}, "answer_by", {"session": 3}),
            entry("control_port", {"ingress_port": CPU_PORT, "beyond_slots": 0}, "from_agent", {}),
            default("hot_threshold", "set_hot_threshold", threshold=0xFFFF),
            default("answer_source", "from_first_server",
                    mac=SERVER0.mac, ip=SERVER0.ip, udp_port=1152),
        )  # fmt: skip
        self.write(mirror(1, CPU_PORT), mirror(2, CLIENT.port), mirror(3, OTHER_CLIENT.port))
        target.command("register_clear")
        target.command("counter_clear")

    # --- Control plane ----------------------------------------------------------------------------

    def write(self, *updates: dict[str, Any]) -> None:
        self.target.command("table_write", updates=list(updates))

    def look_up(self, key: bytes = KEY, slot: int = SLOT) -> None:
        update = entry("cache_lookup", key_fields(key), "cached_at", {"slot": slot})
        self.write(update | {"op": "upsert"})

    def forget(self, key: bytes = KEY) -> None:
        self.write({"op": "delete", "table": "cache_lookup", "key": key_fields(key)})

    def sample(self, low: int = 0, high: int = 0xFFFF) -> None:
        range_ = {"random": {"low": low, "high": high}}
        self.write(entry("sampling", range_, "sample", {}))

    def hot_threshold(self, threshold: int) -> None:
        self.write(default("hot_threshold", "set_hot_threshold", threshold=threshold))

    def snapshot(self, token: int | None) -> None:
        if token is None:
            self.write(default("snapshot", "no_snapshot"))
        else:
            self.write(default("snapshot", "in_snapshot", token=token))

    def cell(self, register: str, index: int = SLOT) -> int:
        answer = self.target.command("register_read", table=register, first=index, count=1)
        [value] = answer["values"]
        return value

    def set_cell(self, register: str, value: int, index: int = SLOT) -> None:
        self.target.command("register_write", table=register, first=index, values=[value])

    def outcomes(self) -> dict[str, int]:
        """What egress has counted since the last call, without zeros; `+case3` marks those."""
        counters = self.target.command("counter_read", table="outcome")["counters"]
        self.target.command("counter_clear", table="outcome")
        return {
            Outcome(cell % WITH_CASE3).name.lower() + "+case3" * (cell >= WITH_CASE3): packets
            for cell, packets in ((c["index"], c["$COUNTER_SPEC_PKTS"]) for c in counters)
            if packets
        }

    def drops(self) -> dict[int, int]:
        """What ingress has dropped since the last call, by verdict."""
        counters = self.target.command("counter_read", table=DROPS)["counters"]
        self.target.command("counter_clear", table=DROPS)
        packets = {c["key"]["verdict"]: c["$COUNTER_SPEC_PKTS"] for c in counters}
        return {verdict: number for verdict, number in packets.items() if number}

    # --- Frames -----------------------------------------------------------------------------------

    def send(self, port: int, frame: Packet | Control | bytes) -> list[Frame]:
        return self.target.send(port, bytes(frame))

    def control(self, frame: Control) -> bytes:
        """The answer to a frame of the agent."""
        [(port, answer)] = self.send(CPU_PORT, frame)
        assert port == CPU_PORT
        assert answer[14] == frame.operation | ANSWERED
        assert len(answer) == len(bytes(frame))
        return answer

    def set_valid(self, valid: int, slot: int = SLOT) -> None:
        self.control(Control(SET_VALID, slot, KEY, valid=valid))

    def admit(self, cell: int, key: bytes = KEY, slot: int = SLOT, **fields: Any) -> None:
        """Steps 1 to 3 of an admission (kvcache.md §7)."""
        self.control(Control(ADMIT, slot, key, cell=cell, **fields))
        self.look_up(key, slot)
        self.set_valid(1, slot)

    def load(self, slot: int = SLOT) -> bytes:
        return self.control(Control(LOAD, slot, KEY))

    def request(self, body: bytes, host: Host = CLIENT) -> tuple[Packet, list[Frame]]:
        """A client's packet, and what left because of it."""
        sent = Packet(src_mac=host.mac, src_ip=host.ip, payload=body)
        return sent, self.send(host.port, sent)

    def at_server(self, sent: Packet, body: bytes, partition: int = PARTITION) -> list[Frame]:
        """A client's packet as it reaches the server of the partition."""
        host, udp_port = server_of(partition)
        changed = sent.change(
            dst_mac=host.mac, dst_ip=host.ip, dst_port=udp_port, udp_checksum=0, payload=body
        )
        return [(host.port, bytes(changed))]

    def at_client(self, sent: Packet, body: bytes, host: Host = CLIENT) -> list[Frame]:
        """The switch's own answer to a client's packet."""
        return [(host.port, bytes(answer_to(sent, SERVER0.ip, SERVER0.mac, body)))]

    def from_server(
        self, body: bytes, client: Host = CLIENT, partition: int = PARTITION
    ) -> tuple[list[Frame], Packet]:
        """A server's answer: what left because of it, and the packet as its client gets it, but
        for the payload."""
        host, udp_port = server_of(partition)
        sent = Packet(
            src_mac=host.mac, dst_mac="02:00:00:00:00:ee", src_ip=host.ip, dst_ip=client.ip,
            src_port=udp_port, dst_port=40000, payload=body,
        )  # fmt: skip
        received = sent.change(
            src_mac=SERVER0.mac, dst_mac=client.mac, src_ip=SERVER0.ip, src_port=1152,
            udp_checksum=0,
        )  # fmt: skip
        return self.send(host.port, sent), received
