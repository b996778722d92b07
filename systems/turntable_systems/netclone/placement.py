"""Where logical servers and clients run.

Server i runs on server host i mod (number of hosts), as a node and with a UDP port of its own. What
the switch handles has other ports than what it only forwards, so a logical server has a node for
each of the two where a run has methods of both kinds. Clients are dealt to the client hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turntable_core.testbed import DataHost, Testbed
from turntable_systems.netclone import methods
from turntable_systems.netclone.p4_numbers import MAX_SERVERS

MOST_SERVERS = MAX_SERVERS  # the switch has 256 groups: ordered pairs of servers
SWITCH_PORT = 1000  # of server 0 where the switch clones, as in the artifact
PLAIN_PORT = 2000  # ... where it only forwards
COORDINATOR_PORT = 3000
CLIENT_PORT = 4000  # of a host's first client; the switch leaves 1000 to 1015 to servers

Endpoint = dict[str, Any]  # {"address", "port"}


@dataclass(frozen=True)
class Place:
    host: DataHost
    udp_port: int

    @property
    def node(self) -> str:
        """rpcserver-1002"""
        return f"rpcserver-{self.udp_port}"

    @property
    def endpoint(self) -> Endpoint:
        return {"address": self.host.address, "port": self.udp_port}


def first_port(parameters: Mapping[str, Any]) -> int:
    return SWITCH_PORT if methods.by_switch(parameters) else PLAIN_PORT


def place_of(server: int, port: int, testbed: Testbed) -> Place:
    """port: of server 0."""
    hosts = testbed.hosts_of("servers")
    return Place(hosts[server % len(hosts)], port + server)


def places(testbed: Testbed, parameters: Mapping[str, Any]) -> list[Place]:
    """Of a cell's servers, by index."""
    port = first_port(parameters)
    return [place_of(server, port, testbed) for server in range(parameters["servers"])]


def clients_of(index: int, testbed: Testbed, parameters: Mapping[str, Any]) -> list[int]:
    """The logical clients of the client host of this index."""
    return list(range(index, parameters["clients"], len(testbed.hosts_of("clients"))))


def client_endpoints(testbed: Testbed, parameters: Mapping[str, Any]) -> list[Endpoint]:
    """Of all logical clients, by index: the n-th of a host has the n-th port from CLIENT_PORT on
    (src/netclone/client/client_node.cc).
    """
    hosts = testbed.hosts_of("clients")
    return [
        {
            "address": hosts[client % len(hosts)].address,
            "port": CLIENT_PORT + client // len(hosts),
        }
        for client in range(parameters["clients"])
    ]


def coordinator(testbed: Testbed) -> Place:
    """LAEDGE's, beside the first server."""
    return Place(testbed.hosts_of("servers")[0], COORDINATOR_PORT)
