"""A switch with Priority: three hosts, and Homa's eight priorities in the top three DSCP bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .frames import Packet
from .nocache_tables import CLIENT, HOSTS, PORTS, SERVER0, Host
from .targets import Frame, Target

PRIORITY_PORTS = PORTS
QUEUES = 8
DSCPS = 64
HOMA = {0: 0, 8: 1, 16: 2, 24: 3, 32: 4, 40: 5, 48: 6, 56: 7}

PIPE = "pipe.SwitchIngress"
DSCP_TO_QUEUE = f"{PIPE}.dscp_to_queue.dscp_to_queue"
ROUTES = f"{PIPE}.forwarding.ipv4_lpm"
QUEUED = f"{PIPE}.queue_counter.packets"
OUTCOMES = f"{PIPE}.outcomes.outcome"
# outcome_t of p4/priority/outcome_numbers.p4
NAMES = ("forwarded", "not_ipv4", "malformed", "no_route")

PacketsAndBytes = tuple[int, int]


def entry(dscp: int, queue: int, op: str = "insert") -> dict[str, Any]:
    key, data = {"dscp": dscp}, {"queue": queue}
    return {"op": op, "table": DSCP_TO_QUEUE, "key": key, "action": "to_queue", "data": data}


def default_queue(queue: int) -> dict[str, Any]:
    data = {"queue": queue}
    return {"op": "set_default", "table": DSCP_TO_QUEUE, "action": "to_queue", "data": data}


def route(prefix: str, prefix_len: int, port: int, mac: str) -> dict[str, Any]:
    key = {"dst_addr": {"value": prefix, "prefix_len": prefix_len}}
    data = {"port": port, "mac": mac}
    return {"op": "insert", "table": ROUTES, "key": key, "action": "forward", "data": data}


def marked(dscp: int, to: Host = SERVER0, source: Host = CLIENT, ecn: int = 0) -> Packet:
    """A packet between two hosts with this DSCP."""
    return Packet(
        src_mac=source.mac,
        dst_mac="02:00:00:00:00:ee",
        src_ip=source.ip,
        dst_ip=to.ip,
        diffserv=dscp << 2 | ecn,
        payload=b"message",
    )


@dataclass
class PrioritySwitch:
    """As after a start, with these entries."""

    target: Target

    def __post_init__(self) -> None:
        self.map_dscps(HOMA)
        self.write(
            default_queue(0),
            {"op": "clear", "table": ROUTES},
            *(route(host.ip, 32, host.port, host.mac) for host in HOSTS),
        )
        self.target.command("counter_clear")

    def write(self, *updates: dict[str, Any]) -> None:
        self.target.command("table_write", updates=list(updates))

    def map_dscps(self, queues: dict[int, int]) -> None:
        """These entries and no others."""
        entries = (entry(dscp, queue) for dscp, queue in queues.items())
        self.write({"op": "clear", "table": DSCP_TO_QUEUE}, *entries)

    def send(self, packet: Packet, source: Host = CLIENT) -> list[Frame]:
        return self.target.send(source.port, bytes(packet))

    def queue_of(self, packet: Packet, source: Host = CLIENT) -> int:
        """Of a packet that reaches its host, by the counter."""
        self.target.command("counter_clear", table=QUEUED)
        [(out, _)] = self.send(packet, source)
        [(port, queue)] = self.queued()
        assert port == out
        return queue

    def queued(self) -> dict[tuple[int, int], PacketsAndBytes]:
        """By port and queue, without zeros."""
        counters = self.target.command("counter_read", table=QUEUED)["counters"]
        assert len(counters) == 512 * QUEUES
        return {
            divmod(row["index"], QUEUES): (row["$COUNTER_SPEC_PKTS"], row["$COUNTER_SPEC_BYTES"])
            for row in counters
            if row["$COUNTER_SPEC_PKTS"] or row["$COUNTER_SPEC_BYTES"]
        }

    def outcomes(self) -> dict[str, int]:
        """By name, without zeros."""
        counters = self.target.command("counter_read", table=OUTCOMES)["counters"]
        counts = {row["index"]: row["$COUNTER_SPEC_PKTS"] for row in counters}
        return {NAMES[index]: count for index, count in counts.items() if count}
