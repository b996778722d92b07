"""Where clients and servers are: one on each of the first hosts of their groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.context import Context
from turntable_core.testbed import DataHost, Testbed

CLIENT, SERVER = "msgbench-client", "msgbench-server"  # programs, and their nodes
BESIDE = f"{SERVER}-beside"  # the node of the other method, where clients have two
CLIENT_PORT, SERVER_PORT, BESIDE_PORT = 5000, 5001, 5002  # UDP, or TCP

Parameters = Mapping[str, Any]


def clients(testbed: Testbed, parameters: Parameters) -> tuple[DataHost, ...]:
    return testbed.hosts_of("clients")[: parameters["clients"]]


def servers(testbed: Testbed, parameters: Parameters) -> tuple[DataHost, ...]:
    """As many as clients."""
    return testbed.hosts_of("servers")[: parameters["clients"]]


def of_run(role: str, context: Context) -> tuple[DataHost, ...]:
    """Those that any cell of the run needs."""
    most = max(cell.parameters["clients"] for cell in context.plan.cells)
    return context.testbed.hosts_of(role)[:most]


def client_endpoints(testbed: Testbed, parameters: Parameters) -> list[dict[str, Any]]:
    return [{"address": host.address, "port": CLIENT_PORT} for host in clients(testbed, parameters)]


def server_endpoints(
    testbed: Testbed, parameters: Parameters, port: int = SERVER_PORT
) -> list[dict[str, Any]]:
    return [{"address": host.address, "port": port} for host in servers(testbed, parameters)]
