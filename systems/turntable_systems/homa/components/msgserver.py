"""Servers, one on each server host: they answer with as many bytes as they were sent. Where clients
have two methods, each host has a server for both.
"""

from __future__ import annotations

from typing import Any

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_systems.homa import methods, placement, transport

NODE, BESIDE = placement.SERVER, placement.BESIDE
_PORTS = {NODE: placement.SERVER_PORT, BESIDE: placement.BESIDE_PORT}


def start(context: Context) -> Batches:
    mixed = _is_mixed_run(context)
    return {
        host.name: [
            spawn(
                context,
                host,
                NODE,
                "--address",
                host.address,
                "--port",
                str(_PORTS[name]),
                name=name,
            )
            for name in _PORTS
            if name == NODE or mixed
        ]
        for host in placement.of_run("servers", context)
    }


def prepare_baseline(context: Context) -> Batches:
    """What the one beside has of an earlier cell, its interface's rate for instance, is gone."""
    prepared = _prepare(context, NODE, transport.of_baseline(context.parameters))
    stopped = [Request(BESIDE, "stop", {})] if _is_mixed_run(context) else []
    return _asked(context, [*stopped, prepared])


def prepare(context: Context) -> Batches:
    every = {NODE: context.parameters, BESIDE: methods.beside(context.parameters)}
    derived = context.turn.prediction
    emulated = context.testbed.emulated
    return _asked(
        context,
        [
            _prepare(context, name, transport.of_nodes(every[name], derived, emulated=emulated))
            for name in _names(context)
        ],
    )


def begin(context: Context) -> Batches:
    return _asked(context, [Request(name, "start", {}) for name in _names(context)])


def collect(context: Context) -> Batches:
    return _asked(context, [Request(name, "stats", {}) for name in _names(context)])


def _prepare(context: Context, name: str, settings: dict[str, Any]) -> Request:
    parameters = context.parameters
    args = {
        "transport": settings,
        "clients": placement.client_endpoints(context.testbed, parameters),
        "response_bytes": parameters["response_bytes"],
        "realtime": True,
    }
    return Request(name, "prepare", args)


def _is_mixed_run(context: Context) -> bool:
    return any(methods.is_mixed(cell.parameters) for cell in context.plan.cells)


def _names(context: Context) -> tuple[str, ...]:
    """Of a cell's nodes on each host."""
    return (NODE, BESIDE) if methods.is_mixed(context.parameters) else (NODE,)


def _asked(context: Context, requests: list[Request]) -> Batches:
    hosts = placement.servers(context.testbed, context.parameters)
    return {host.name: list(requests) for host in hosts}
