"""Logical clients, spread evenly over the client hosts (docs/architecture.md §5)."""

from __future__ import annotations

from typing import Any

from turntable_core.components.supervisor import spawn_with_secret
from turntable_core.context import Context, seconds_to_ns
from turntable_core.requests import Batches, Request
from turntable_systems.farreach import hosts, idle_path, offered, ycsb
from turntable_systems.farreach.closed_loop import ramp_s
from turntable_systems.farreach.methods import keeps_copies
from turntable_systems.farreach.placement import CONTROLLER_PORT, FIRST_PORT
from turntable_systems.farreach.rotation import partitions_of
from turntable_systems.farreach.workload import replays_pieces, workload_of

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
    if ycsb.drives(parameters):
        return _at_rest(context)
    clients = parameters["clients"] // len(machines)
    copies = _copies(context) if keeps_copies(parameters) else {}
    popularity = context.turn.prediction.popularity
    changes = {"popularity": popularity.plan} if popularity is not None else {}
    return {
        host.name: [
            Request(
                NODE,
                "prepare",
                {
                    "workload": workload_of(context.turn),
                    "scale": parameters["servers"],
                    "partitions": partitions_of(context.iteration),
                    "first_client": index * clients,
                    "clients": clients,
                    "threads": min(parameters["client_threads"], clients),
                    "server_address": hosts.servers(context.testbed)[0].address,
                    "server_port": FIRST_PORT,
                    "timeout_us": parameters["timeout_us"],
                }
                | _piece(context)
                | copies
                | changes
                | _loop(context, index, len(machines)),
            )
        ]
        for index, host in enumerate(machines)
    }


def _piece(context: Context) -> dict[str, Any]:
    if not replays_pieces(context.parameters) or _is_modelled_from_the_beginning(context):
        return {}
    return {"piece": context.iteration.index, "pieces": len(context.turn.iterations)}


def _is_modelled_from_the_beginning(context: Context) -> bool:
    """By a plan of an older version, which is continued as it was begun."""
    model = context.turn.prediction.write_through
    return bool(model) and not model[0].deviations


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


def _loop(context: Context, machine: int, machines: int) -> dict[str, Any]:
    parameters = context.parameters
    if not offered.is_open(parameters):
        return {"ramp_us": round(ramp_s(parameters) * 1e6)}
    return {
        "open_loop": {
            "rate_per_s": offered.planned_ops_per_s(context.iteration) / machines,
            "arrivals": parameters.get("arrivals", "exponential"),
            "outstanding_max": parameters.get("outstanding_max", 0),
            "give_up_us": parameters["timeout_us"],
            "iteration": context.iteration.index,
        }
        | idle_path.of_machine(parameters, machine, machines)
    }


def _at_rest(context: Context) -> Batches:
    """Without clients to speak of, and without the copies of the cell before."""
    nothing = {"operations": 1, "clients": 1, "name": "workload-load"}
    args = {
        "workload": workload_of(context.turn) | nothing,
        "scale": context.parameters["servers"],
        "partitions": partitions_of(context.iteration),
        "first_client": 0,
        "clients": 1,
        "threads": 1,
        "server_address": hosts.servers(context.testbed)[0].address,
        "server_port": FIRST_PORT,
    }
    requests = [Request(NODE, "prepare", args)]
    return {host.name: requests for host in hosts.clients(context.testbed)}


def begin(context: Context) -> Batches:
    if ycsb.drives(context.parameters):
        return {}
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
    if ycsb.drives(context.parameters):
        return {}
    args = {"deadline_s": context.windows.running_s + context.plan.deadlines["command"]}
    return {host.name: [Request(NODE, "wait", args)] for host in hosts.clients(context.testbed)}


def collect(context: Context) -> Batches:
    if ycsb.drives(context.parameters):
        return {}
    return {host.name: [Request(NODE, "stats")] for host in hosts.clients(context.testbed)}
