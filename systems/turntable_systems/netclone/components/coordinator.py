"""LAEDGE's coordinator, beside the first server."""

from __future__ import annotations

from typing import Any

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_systems.netclone import methods, offered_load, placement, work

NODE = "laedge-coordinator"


def start(context: Context) -> Batches:
    """Where a cell of the run needs it."""
    if not any(cell.parameters["method"] == methods.LAEDGE for cell in context.plan.cells):
        return {}
    place = placement.coordinator(context.testbed)
    address = ("--address", place.host.address, "--port", str(place.udp_port))
    return {place.host.name: [spawn(context, place.host, NODE, *address)]}


def prepare(context: Context) -> Batches:
    parameters = context.parameters
    servers = placement.places(context.testbed, parameters)
    return _asked(
        context,
        "prepare",
        mode=parameters.get("laedge_mode"),
        workers=offered_load.slots(parameters),
        servers=[place.endpoint for place in servers],
        clients=placement.client_endpoints(context.testbed, parameters),
        give_up_ms=work.give_up_ms(parameters),
        seed=work.seed_of(parameters, context.turn.round),
    )


def begin(context: Context) -> Batches:
    """What it has counted by now are clients' probes: none of the measurement."""
    begin, end = context.window_ns()
    window = {"measure_from_ns": begin, "measure_until_ns": end}
    batches = _asked(context, "start", **window)
    for host, requests in _asked(context, "stats").items():
        batches[host] += requests
    return batches


def collect(context: Context) -> Batches:
    return _asked(context, "stats")


def _asked(context: Context, command: str, **args: Any) -> Batches:
    if context.parameters["method"] != methods.LAEDGE:
        return {}
    host = placement.coordinator(context.testbed).host
    return {host.name: [Request(NODE, command, args)]}
