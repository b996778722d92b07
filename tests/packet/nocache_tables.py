"""A small testbed for NoCache: three hosts, and the entries that a control plane writes for 16
partitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .frames import SLOTS


@dataclass(frozen=True)
class Host:
    port: int
    mac: str
    ip: str


SERVER0 = Host(1, "02:00:00:00:00:51", "198.18.0.1")
SERVER1 = Host(2, "02:00:00:00:00:52", "198.18.0.2")
CLIENT = Host(3, "02:00:00:00:00:c1", "198.18.0.11")
HOSTS = (SERVER0, SERVER1, CLIENT)
PORTS = [host.port for host in HOSTS]

REQUESTS = "pipe.SwitchIngress.request_partition.request_partition"
ANSWERS = "pipe.SwitchIngress.answer_partition.answer_partition"
ROUTES = "pipe.SwitchIngress.forwarding.ipv4_lpm"
DROPS = "pipe.SwitchIngress.drops.drops"
SERVER_PORTS = "pipe.SwitchIngress.server_port.server_port"

PARTITIONS = 16
BOTTLENECK = 14
FIRST_PORT = 1152
# verdict_t of p4/shared/headers.p4
NOT_IPV4, UNKNOWN_OPERATION, NO_PARTITION, NO_ROUTE = 0, 3, 4, 5
FORGED, MALFORMED = 6, 7


def slots(partition: int, partitions: int = PARTITIONS) -> tuple[int, int]:
    width = SLOTS // partitions
    return partition * width, (partition + 1) * width - 1


def server_of(partition: int) -> tuple[Host, int]:
    """Host and UDP port: server 0 has the bottleneck, server 1 all others in ascending order."""
    if partition == BOTTLENECK:
        return SERVER0, FIRST_PORT
    return SERVER1, FIRST_PORT + partition - (partition > BOTTLENECK)


def entry(table: str, key: dict[str, Any], action: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"op": "insert", "table": table, "key": key, "action": action, "data": data}


def request_entry(partition: int, partitions: int = PARTITIONS) -> dict[str, Any]:
    low, high = slots(partition, partitions)
    host, udp_port = server_of(partition)
    data = {"port": host.port, "mac": host.mac, "ip": host.ip, "udp_port": udp_port}
    return entry(REQUESTS, {"slot": {"low": low, "high": high}}, "to_server", data)


def answer_entry(partition: int, partitions: int = PARTITIONS) -> dict[str, Any]:
    low, high = slots(partition, partitions)
    data = {"mac": SERVER0.mac, "ip": SERVER0.ip, "udp_port": FIRST_PORT}
    return entry(ANSWERS, {"slot": {"low": low, "high": high}}, "from_first_server", data)


def route(prefix: str, prefix_len: int, host: Host) -> dict[str, Any]:
    key = {"dst_addr": {"value": prefix, "prefix_len": prefix_len}}
    return entry(ROUTES, key, "forward", {"port": host.port, "mac": host.mac})


def server_port(host: Host) -> dict[str, Any]:
    return entry(SERVER_PORTS, {"ingress_port": host.port}, "from_server", {})


def clear() -> list[dict[str, Any]]:
    return [{"op": "clear", "table": table} for table in (REQUESTS, ANSWERS, ROUTES, SERVER_PORTS)]


def all_entries() -> list[dict[str, Any]]:
    return [
        *clear(),
        *(request_entry(partition) for partition in range(PARTITIONS)),
        *(answer_entry(partition) for partition in range(PARTITIONS)),
        *(route(host.ip, 32, host) for host in HOSTS),
        *(server_port(host) for host in (SERVER0, SERVER1)),
    ]
