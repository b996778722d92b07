"""Logical servers: server host 0 runs the bottleneck partition, server host 1 the rotated one
(docs/architecture.md §3, §5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.components.supervisor import spawn_with_secret
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_systems.farreach import hosts, ycsb
from turntable_systems.farreach.methods import caches
from turntable_systems.farreach.placement import CONTROLLER_PORT, place_of
from turntable_systems.farreach.rotation import partitions_of
from turntable_systems.farreach.workload import workload_of

NODE = "kvserver"


def start(context: Context) -> Batches:
    return {
        host.name: [
            spawn_with_secret(
                context, host, NODE, "--address", host.address, "--state-dir", host.state_dir
            )
        ]
        for host in hosts.servers(context.testbed)
    }


def configure(context: Context) -> Batches:
    """Builds or finds the stores of a turn: each with the keys that the turn's traces touch."""
    first, second = hosts.servers(context.testbed)
    bottleneck = context.turn.prediction.bottleneck
    others = [
        partition for partition in range(context.parameters["servers"]) if partition != bottleneck
    ]
    return {
        first.name: [Request(NODE, "load", _stores(context) | {"partitions": [bottleneck]})],
        second.name: [Request(NODE, "load", _stores(context) | {"partitions": others})],
    }


def prepare(context: Context) -> Batches:
    return _prepare(context, {})


def reopen(context: Context) -> Batches:
    """After a crash: the stores as the killed servers left them."""
    return _prepare(context, {"keep_stores": True})


def _prepare(context: Context, more: Mapping[str, Any]) -> Batches:
    parameters = context.parameters
    controller = {}
    if caches(parameters):
        address = hosts.servers(context.testbed)[0].control_address
        controller = {"controller": {"address": address, "port": CONTROLLER_PORT}}
    placement = _placement(context)
    batches: Batches = {
        name: [
            Request(
                NODE,
                "prepare",
                _stores(context)
                | {
                    "logical_servers": logical_servers,
                    "capacity_ops_per_s": parameters["capacity_ops_per_s"],
                }
                | more
                | controller
                | _value_updates(parameters),
            )
        ]
        for name, logical_servers in placement.items()
    }
    # A host without a place in this iteration would go on to serve the partition of the one before.
    idle = (host.name for host in hosts.servers(context.testbed) if host.name not in placement)
    return batches | {name: [Request(NODE, "stop")] for name in idle}


def begin(context: Context) -> Batches:
    begin, end = context.window_ns()
    return {
        name: [Request(NODE, "start", {"measure_from_ns": begin, "measure_until_ns": end})]
        for name in _placement(context)
    }


def collect(context: Context) -> Batches:
    return {name: [Request(NODE, "stats")] for name in _placement(context)}


def _value_updates(parameters: Mapping[str, Any]) -> dict[str, int]:
    delay_us = parameters.get("value_update_delay_us", 0)
    return {"value_update_delay_us": delay_us} if delay_us else {}


def _stores(context: Context) -> dict:
    parameters = context.parameters
    method = {"method": parameters["method"]} if caches(parameters) else {}
    # YCSB loads its records itself: stores of a workload that inserts all keys are empty.
    empty = {"name": "workload-load"} if ycsb.drives(parameters) else {}
    return method | {
        "workload": workload_of(context.turn) | empty,
        "scale": parameters["servers"],
        "store_profile": parameters["store_profile"],
    }


def _placement(context: Context) -> dict[str, list[dict[str, int]]]:
    """Server host -> its logical servers in the running iteration."""
    placement: dict[str, list[dict[str, int]]] = {}
    for partition in partitions_of(context.iteration):
        place = place_of(partition, context.turn.prediction.bottleneck)
        host = hosts.servers(context.testbed)[place.server].name
        placement.setdefault(host, []).append({"partition": partition, "udp_port": place.udp_port})
    return placement
