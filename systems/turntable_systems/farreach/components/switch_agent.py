"""The control plane of the switch's cache, on the switch host (docs/kvcache.md §7)."""

from __future__ import annotations

from turntable_core.components.supervisor import spawn_with_secret
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_core.switch import driver_of
from turntable_systems.farreach import hosts
from turntable_systems.farreach.admission import hot_threshold
from turntable_systems.farreach.methods import caches
from turntable_systems.farreach.placement import AGENT_PORT, place_of

NODE = "switch-agent"

# Settings that an experiment may give as parameters of the same names, with the paper's values
# (FarReach's evaluation). Admission is off: the static experiments admit nothing at run time.
DEFAULTS = {
    "sampling": 0.5,
    "clear_period_s": 1,
    "victims_sampled": 10,
    "admission": False,
}


def start(context: Context) -> Batches:
    switch = context.testbed.switch
    address = ("--address", switch.control_address, "--port", str(AGENT_PORT))
    of_switch = (
        "--switch",
        driver_of(switch).node,
        "--cpu-interface",
        switch.control_plane_interface,
    )
    return {switch.name: [spawn_with_secret(context, switch, NODE, *address, *of_switch)]}


def configure(context: Context) -> Batches:
    """An empty cache for the turn. In a turn without one the agent leaves the switch alone."""
    switch = context.testbed.switch.name
    if not caches(context.parameters):
        return {switch: [Request(NODE, "stop")]}
    parameters = context.parameters
    settings = {name: parameters.get(name, value) for name, value in DEFAULTS.items()}
    settings["hot_threshold"] = hot_threshold(parameters, context.turn.prediction)
    args = settings | {
        "method": parameters["method"],
        "cache_size": parameters["cache_size"],
        "egress_ports": _egress_ports(context),
        "clients": [
            {"address": host.address, "port": host.switch_port}
            for host in hosts.clients(context.testbed)
        ],
        "cpu_port": context.testbed.switch.cpu_port,
        "fresh": True,
    }
    return {switch: [Request(NODE, "configure", args)]}


def begin(context: Context) -> Batches:
    """Counts that only grow: what is of this iteration begins here."""
    if not caches(context.parameters):
        return {}
    return {context.testbed.switch.name: [Request(NODE, "stats")]}


def collect(context: Context) -> Batches:
    if not caches(context.parameters):
        return {}
    requests = [Request(NODE, "cached_set"), Request(NODE, "stats")]
    return {context.testbed.switch.name: requests}


def _egress_ports(context: Context) -> list[int]:
    """The switch's port of each partition's server."""
    bottleneck, servers = context.turn.prediction.bottleneck, hosts.servers(context.testbed)
    return [
        servers[place_of(partition, bottleneck).server].switch_port
        for partition in range(context.parameters["servers"])
    ]
