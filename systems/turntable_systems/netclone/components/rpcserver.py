"""Logical servers, a node each (turntable_systems.netclone.placement)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_systems.netclone import offered_load, work
from turntable_systems.netclone.placement import Place, first_port, place_of, places

PROGRAM = "rpcserver"


def start(context: Context) -> Batches:
    """The nodes of all cells: they stay while cells with fewer servers are measured."""
    batches: Batches = {}
    for place in _of_run(context):
        address = ("--address", place.host.address, "--port", str(place.udp_port))
        request = spawn(context, place.host, PROGRAM, *address, name=place.node)
        batches.setdefault(place.host.name, []).append(request)
    return batches


def prepare(context: Context) -> Batches:
    parameters = context.parameters
    every = work.of_servers(parameters) | {
        "mode": parameters["mode"],
        "seed": work.seed_of(parameters, context.turn.round),
        **_redis(parameters),
    }
    each = [
        every | {"server": index, "workers": slots}
        for index, slots in enumerate(offered_load.slots(parameters))
    ]
    return _asked(context, "prepare", each)


def begin(context: Context) -> Batches:
    begin, end = context.window_ns()
    window = {"measure_from_ns": begin, "measure_until_ns": end}
    return _asked(context, "start", [window] * context.parameters["servers"])


def collect(context: Context) -> Batches:
    return _asked(context, "stats", [{}] * context.parameters["servers"])


def _redis(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Where times are dilated they are drawn, and the redis-server is asked for the result."""
    if parameters["mode"] != "redis":
        return {}
    timing = "real" if parameters["dilation"] == 1 else "slots"
    return {"redis": {"objects": parameters["objects"], "timing": timing}}


def _of_run(context: Context) -> Iterator[Place]:
    """Every port that a cell of the run needs."""
    most: dict[int, int] = {}
    for cell in context.plan.cells:
        port = first_port(cell.parameters)
        most[port] = max(most.get(port, 0), cell.parameters["servers"])
    for port, servers in sorted(most.items()):
        yield from (place_of(server, port, context.testbed) for server in range(servers))


def _asked(context: Context, command: str, args: list[dict[str, Any]]) -> Batches:
    """args: of each server."""
    batches: Batches = {}
    for place, of_server in zip(places(context.testbed, context.parameters), args, strict=True):
        request = Request(place.node, command, of_server)
        batches.setdefault(place.host.name, []).append(request)
    return batches
