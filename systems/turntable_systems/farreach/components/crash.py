"""What a cell's `crash` does to nodes, after a measurement."""

from __future__ import annotations

from turntable_core.components import switch
from turntable_core.components.supervisor import kill
from turntable_core.context import Context
from turntable_core.requests import Batches
from turntable_systems.farreach import hosts
from turntable_systems.farreach.components import kvserver
from turntable_systems.farreach.methods import crash_of


def kill_nodes(context: Context) -> Batches:
    """On all hosts at once."""
    killed = crash_of(context.parameters)
    batches = switch.crash(context) if "switch" in killed else {}
    servers = hosts.servers(context.testbed) if "kvserver" in killed else ()
    return batches | {host.name: [kill(kvserver.NODE)] for host in servers}
