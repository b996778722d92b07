"""Where the servers are: one on each of the first server hosts. Worker i of a server listens on TCP
port BASE_PORT + i. Every client host takes part, whatever the number of servers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.context import Context
from turntable_core.testbed import DataHost, Testbed
from turntable_systems.shadowfax import text_stores

# Programs, and their nodes.
SERVER, CLIENT, METADATA = "hlserver-node", "hlload-node", "hlmeta-node"
TEXT_SERVER = "textstore-node"  # of memcached and Redis
BASE_PORT = 22790  # the original's
METADATA_PORT = 22700  # of the metadata service, on the first server's host

Parameters = Mapping[str, Any]


def servers(testbed: Testbed, parameters: Parameters) -> tuple[DataHost, ...]:
    return testbed.hosts_of("servers")[: parameters["servers"]]


def servers_of_run(context: Context) -> tuple[DataHost, ...]:
    """Those that any cell of the run needs."""
    most = max(cell.parameters["servers"] for cell in context.plan.cells)
    return context.testbed.hosts_of("servers")[:most]


def clients(testbed: Testbed) -> tuple[DataHost, ...]:
    return testbed.hosts_of("clients")


def metadata(testbed: Testbed, parameters: Parameters) -> str | None:
    """HOST:PORT of the metadata service. None: servers own equal ranges for good."""
    if not parameters["cluster"]:
        return None
    return f"{servers(testbed, parameters)[0].address}:{METADATA_PORT}"


def endpoints(testbed: Testbed, parameters: Parameters) -> list[dict[str, Any]]:
    """`servers` of hlload-node's commands. Their order decides which server owns which hashes.
    Other stores than Shadowfax have one port for all of their threads.
    """
    if text_stores.is_text(parameters):
        base_port, workers = text_stores.PORTS[text_stores.store(parameters)], 1
    else:
        base_port, workers = BASE_PORT, parameters["threads"]
    return [
        {"address": host.address, "base_port": base_port, "workers": workers}
        for host in servers(testbed, parameters)
    ]
