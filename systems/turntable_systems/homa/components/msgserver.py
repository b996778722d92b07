"""Servers, one on each server host: they answer with as many bytes as they were sent."""

from __future__ import annotations

from typing import Any

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_systems.homa import placement, transport

NODE = placement.SERVER


def start(context: Context) -> Batches:
    port = str(placement.SERVER_PORT)
    return {
        host.name: [spawn(context, host, NODE, "--address", host.address, "--port", port)]
        for host in placement.of_run("servers", context)
    }


def prepare_baseline(context: Context) -> Batches:
    return _prepared(context, transport.of_baseline(context.parameters))


def prepare(context: Context) -> Batches:
    return _prepared(context, transport.of_nodes(context.parameters, context.turn.prediction))


def begin(context: Context) -> Batches:
    return _asked(context, "start")


def collect(context: Context) -> Batches:
    return _asked(context, "stats")


def _prepared(context: Context, settings: dict[str, Any]) -> Batches:
    parameters = context.parameters
    return _asked(
        context,
        "prepare",
        transport=settings,
        clients=placement.client_endpoints(context.testbed, parameters),
        response_bytes=parameters["response_bytes"],
        realtime=True,
    )


def _asked(context: Context, command: str, **args: Any) -> Batches:
    hosts = placement.servers(context.testbed, context.parameters)
    return {host.name: [Request(NODE, command, args)] for host in hosts}
