"""Clients in an open loop, one on each client host, that begin at one instant."""

from __future__ import annotations

from typing import Any

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context, seconds_to_ns
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.homa import methods, placement, simulation, sizes, transport

NODE = placement.CLIENT
# Of each size on the idle network: so many calls, or as many as this time allows (at least three).
_IDLE_CALLS, _IDLE_S = 50, 0.25
# Once through all sizes, then again: what disturbs a machine for a second spoils no minimum.
_IDLE_PASSES = 2


def start(context: Context) -> Batches:
    hosts = placement.of_run("clients", context)
    return {host.name: [_spawn(context, host)] for host in hosts}


def prepare_baseline(context: Context) -> Batches:
    """Each with a server of its own: nobody waits for another one."""
    servers = placement.server_endpoints(context.testbed, context.parameters)
    return _prepared(
        context,
        [{"servers": [server]} for server in servers],
        transport=transport.of_baseline(context.parameters),
    )


def measure_baseline(context: Context) -> Batches:
    return _asked(
        context,
        "idle",
        bytes=[size for size, _ in context.turn.prediction.idle_ns] * _IDLE_PASSES,
        calls=_IDLE_CALLS,
        each_s=_IDLE_S,
        deadline_s=context.plan.deadlines["baseline"],
    )


def prepare(context: Context) -> Batches:
    return _prepared(
        context, [_own(context, index) for index, _ in enumerate(_hosts(context))], idle="measured"
    )


def begin(context: Context) -> Batches:
    windows = context.windows
    return _asked(
        context,
        "start",
        start_at_ns=context.start_at_ns,
        warmup_ns=seconds_to_ns(windows.warmup_s),
        measure_ns=seconds_to_ns(windows.measure_s),
        drain_ns=seconds_to_ns(windows.drain_s),
    )


def wait(context: Context) -> Batches:
    """Answers when the drain is over."""
    deadline_s = context.windows.running_s + context.plan.deadlines["command"]
    return _asked(context, "wait", deadline_s=deadline_s)


def collect(context: Context) -> Batches:
    return _asked(context, "stats")


def _own(context: Context, client: int) -> dict[str, Any]:
    """Transport and servers of one client."""
    parameters, port = context.parameters, placement.SERVER_PORT
    if methods.is_beside(parameters, client):
        parameters, port = methods.beside(parameters), placement.BESIDE_PORT
    return {
        "transport": transport.of_nodes(
            parameters,
            context.turn.prediction,
            emulated=context.testbed.emulated,
        ),
        "servers": placement.server_endpoints(context.testbed, parameters, port),
    }


def _spawn(context: Context, host: DataHost) -> Request:
    address = ("--address", host.address, "--port", str(placement.CLIENT_PORT))
    return spawn(context, host, NODE, *address)


def _prepared(context: Context, each: list[dict[str, Any]], **of_all: Any) -> Batches:
    """each: what is its own, of each host."""
    parameters = context.parameters
    common = {
        "sizes": sizes.argument(parameters),
        "payload_bps": context.turn.prediction.payload_bps,
        "arrivals": parameters["arrivals"],
        "outstanding": parameters["outstanding"],
        "fan_out": parameters["fan_out"],
        "response_bytes": parameters["response_bytes"],
        "seed": simulation.seed_of(parameters, context.turn.round),
        "realtime": True,
        **of_all,
    }
    return {
        host.name: [Request(NODE, "prepare", {**common, **own, "client": index})]
        for index, (host, own) in enumerate(zip(_hosts(context), each, strict=True))
    }


def _asked(context: Context, command: str, **args: Any) -> Batches:
    return {host.name: [Request(NODE, command, args)] for host in _hosts(context)}


def _hosts(context: Context) -> tuple[DataHost, ...]:
    return placement.clients(context.testbed, context.parameters)
