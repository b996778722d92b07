"""A switch with NetClone: two server hosts, two clients, and the entries that a control plane
writes; none of its own (turntable_systems.netclone.switch_tables).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from .frames import Packet
from .netclone_frames import (
    FIRST_PORT,
    REQUEST,
    RESPONSE,
    Header,
    header_of,
    request,
    response,
)
from .nocache_tables import Host
from .targets import Frame, Target

HOST0 = Host(1, "02:00:00:00:00:51", "198.18.0.1")
HOST1 = Host(2, "02:00:00:00:00:52", "198.18.0.2")
CLIENT = Host(3, "02:00:00:00:00:c1", "198.18.0.11")
OTHER_CLIENT = Host(4, "02:00:00:00:00:c2", "198.18.0.12")
HOSTS = (HOST0, HOST1, CLIENT, OTHER_CLIENT)
NETCLONE_PORTS = [host.port for host in HOSTS]
RECIRCULATION = 68

SERVERS = 4
PIPE = "pipe.SwitchIngress"
TABLES = {
    "group": f"{PIPE}.group.group",
    "destination": f"{PIPE}.destination.destination",
    "routes": f"{PIPE}.forwarding.ipv4_lpm",
    "server_port": f"{PIPE}.server_port.server_port",
}
OUTCOMES = f"{PIPE}.outcomes.outcome"

# outcome_t of p4/netclone/outcome_numbers.p4
NAMES = (
    *("other", "not_ipv4", "malformed", "no_route", "unknown_operation", "unknown_group"),
    *("cloned", "first_busy", "second_busy", "to_first", "to_second", "came_round"),
    *("only_response", "faster", "faster_overwrote", "slower", "unfiltered", "unknown_table"),
    "forged",
)


def host_of(server: int) -> Host:
    """Logical servers share two hosts."""
    return (HOST0, HOST1)[server % 2]


def pairs(servers: int) -> dict[int, tuple[int, int]]:
    """Group -> first and second server (NetClone reference §3)."""
    found: dict[int, tuple[int, int]] = {}
    for i, j in combinations(range(servers), 2):
        odd = len(found) + 1
        found[odd], found[odd + 1] = (i, j), (j, i)
    return found


def group_of(first: int, second: int) -> int:
    return next(group for group, pair in pairs(SERVERS).items() if pair == (first, second))


def entry(table: str, key: dict[str, Any], action: str, **data: Any) -> dict[str, Any]:
    return {"op": "insert", "table": TABLES[table], "key": key, "action": action, "data": data}


def destination(server: int) -> list[dict[str, Any]]:
    host, exactly = host_of(server), {"value": server, "mask": 255}
    there = {"mac": host.mac, "ip": host.ip, "udp_port": FIRST_PORT + server}
    chosen = {"both_idle": 0, "second_is_shorter": 0}
    return [
        entry("destination", {**chosen, "first": exactly}, "send", port=host.port, **there),
        entry(
            "destination",
            {**chosen, "second_is_shorter": 1, "second": exactly},
            "send",
            port=host.port,
            **there,
        ),
        entry("destination", {**chosen, "both_idle": 1, "first": exactly}, "clone", **there),
    ]


def all_entries(servers: int, hosts: tuple[Host, ...] = HOSTS) -> list[dict[str, Any]]:
    routes = [
        entry(
            "routes",
            {"dst_addr": {"value": host.ip, "prefix_len": 32}},
            "forward",
            port=host.port,
            mac=host.mac,
        )
        for host in hosts
    ]
    return [
        *({"op": "clear", "table": table} for table in TABLES.values()),
        *(
            entry("group", {"group": group}, "pair", first=first, second=second)
            for group, (first, second) in pairs(servers).items()
        ),
        *(update for server in range(servers) for update in destination(server)),
        *routes,
        *(
            entry(
                "server_port",
                {"ingress_port": host_of(server).port, "server": server},
                "from_server",
                server=server,
            )
            for server in range(servers)
        ),
    ]


def multicast(servers: int) -> list[dict[str, Any]]:
    updates: list[dict[str, Any]] = [
        {"op": "clear", "table": "$pre.mgid"},
        {"op": "clear", "table": "$pre.node"},
    ]
    for group, (first, _) in pairs(servers).items():
        updates += [
            {
                "op": "insert",
                "table": "$pre.node",
                "key": {"$MULTICAST_NODE_ID": group},
                "data": {"$MULTICAST_RID": 0, "$DEV_PORT": [host_of(first).port, RECIRCULATION]},
            },
            {
                "op": "insert",
                "table": "$pre.mgid",
                "key": {"$MGID": group},
                "data": {
                    "$MULTICAST_NODE_ID": [group],
                    "$MULTICAST_NODE_L1_XID_VALID": [False],
                    "$MULTICAST_NODE_L1_XID": [0],
                },
            },
        ]
    return updates


@dataclass
class NetCloneSwitch:
    """As after a start: registers empty, counters at zero, RackSched off, filter on."""

    target: Target
    servers: int = SERVERS
    _counted: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """What a restart leaves: entries, which the control plane writes again, and no state."""
        self.target.command("table_write", updates=all_entries(self.servers))
        self.target.command("table_write", updates=multicast(self.servers))
        self.settings()
        self.target.command("register_clear")
        self.target.command("counter_clear")
        self._counted = {}

    def settings(self, racksched: bool = False, filter_: bool = True) -> None:
        data = {"racksched": racksched, "filter": filter_}
        update = {"op": "set_default", "table": "settings", "action": "set_flags", "data": data}
        self.target.command("table_write", updates=[update])

    # --- Registers ---

    def write(self, register: str, values: dict[int, int]) -> None:
        for cell, value in values.items():
            self.target.command(
                "register_write", table=f"{PIPE}.{register}", first=cell, values=[value]
            )

    def read(self, register: str, cell: int) -> int:
        table = f"{PIPE}.{register}"
        [value] = self.target.command("register_read", table=table, first=cell, count=1)["values"]
        return value

    def set_loads(self, loads: dict[int, int]) -> None:
        self.write("loads.state_cells", loads)
        self.write("loads.shadow_cells", loads)

    def loads(self) -> list[tuple[int, int]]:
        """State and shadow of each server."""
        registers = ("loads.state_cells", "loads.shadow_cells")
        return [tuple(self.read(name, i) for name in registers) for i in range(self.servers)]

    # --- Packets ---

    def ask(self, group: int, client: Host = CLIENT, **more: int) -> list[Frame]:
        """A request of a client -> the frames that leave, by port and server's UDP port."""
        sent = request(client, HOST0, Header(REQUEST, grp=group, **more))
        return sorted(self.target.send(client.port, bytes(sent)), key=lambda f: header_of(f[1]).clo)

    def answer(
        self, server: int, client: Host = CLIENT, port: int | None = None, **more: int
    ) -> list[Frame]:
        """A server's response, from its port unless said otherwise."""
        sent = self.answer_packet(server, client, **more)
        return self.target.send(host_of(server).port if port is None else port, bytes(sent))

    def answer_packet(self, server: int, client: Host = CLIENT, **more: int) -> Packet:
        header = Header(RESPONSE, **{"sid": server, **more})
        return response(host_of(server), client, header, FIRST_PORT + server)

    # --- Counters ---

    def outcomes(self) -> dict[str, int]:
        """By name, without zeros, since this was asked last."""
        counters = self.target.command("counter_read", table=OUTCOMES)["counters"]
        now = {NAMES[row["index"]]: row["$COUNTER_SPEC_PKTS"] for row in counters[: len(NAMES)]}
        assert not any(row["$COUNTER_SPEC_PKTS"] for row in counters[len(NAMES) :])
        before, self._counted = self._counted, now
        return {
            name: n - before.get(name, 0) for name, n in now.items() if n != before.get(name, 0)
        }
