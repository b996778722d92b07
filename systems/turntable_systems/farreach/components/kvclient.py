"""Logical clients, spread evenly over the client hosts;

all of them begin at one instant (docs/architecture.md §5).
"""

from __future__ import annotations

from typing import Any

from turntable_core.components.supervisor import spawn_with_secret
from turntable_core.context import Context, seconds_to_ns
from turntable_core.requests import Batches, Request
from turntable_systems.farreach import hosts
from turntable_systems.farreach.methods import keeps_copies
from turntable_systems.farreach.placement import CONTROLLER_PORT, FIRST_PORT
from turntable_systems.farreach.rotation import partitions_of
from turntable_systems.farreach.workload import workload_of

NODE = "kvclient"
# Copies of evicted keys stay until a snapshot has their records.
_EVICTED_TOO = 4


def start(context: Context) -> Batches:
    return {
        host.name: [
            spawn_with_secret(
                context, host, NODE, "--address", host.address, *host.datagram_options
            )
        ]
        for host in hosts.clients(context.testbed)
    }


def prepare(context: Context) -> Batches:
    parameters, machines = context.parameters, hosts.clients(context.testbed)
    clients = parameters["clients"] // len(machines)
    copies = _copies(context) if keeps_copies(parameters) else {}
    return {
        host.name: [
            Request(
                NODE,
                "prepare",
                {
                    "workload": workload_of(context.parameters, context.turn.round),
                    "scale": parameters["servers"],
                    "partitions": partitions_of(context.iteration),
                    "first_client": index * clients,
                    "clients": clients,
                    "threads": min(parameters["client_threads"], clients),
                    "server_address": hosts.servers(context.testbed)[0].address,
                    "server_port": FIRST_PORT,
                    "timeout_us": parameters["timeout_us"],
                }
                | copies,
            )
        ]
        for index, host in enumerate(machines)
    }


def _copies(context: Context) -> dict[str, Any]:
    """What a switch is recovered from (docs/kvcache.md §9): of every cached key, until the next
    `prepare`. Every thread may have one of each, and of keys that have been evicted since.
    """
    parameters = context.parameters
    kept = parameters["cache_size"] * (_EVICTED_TOO if parameters.get("admission", False) else 1)
    address = hosts.servers(context.testbed)[0].control_address
    return {
        "copies_max": kept * parameters["client_threads"],
        "controller": {"address": address, "port": CONTROLLER_PORT},
    }


def begin(context: Context) -> Batches:
    windows = context.windows
    args = {
        "start_at_ns": context.start_at_ns,
        "warmup_ns": seconds_to_ns(windows.warmup_s),
        "measure_ns": seconds_to_ns(windows.measure_s),
        "drain_ns": seconds_to_ns(windows.drain_s),
    }
    return {host.name: [Request(NODE, "start", args)] for host in hosts.clients(context.testbed)}


def wait(context: Context) -> Batches:
    """Answers when every client has drained: at most `drain_s` after the window."""
    args = {"deadline_s": context.windows.running_s + context.plan.deadlines["command"]}
    return {host.name: [Request(NODE, "wait", args)] for host in hosts.clients(context.testbed)}


def collect(context: Context) -> Batches:
    return {host.name: [Request(NODE, "stats")] for host in hosts.clients(context.testbed)}
