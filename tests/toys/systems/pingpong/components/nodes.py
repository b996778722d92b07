"""Client and server."""

from __future__ import annotations

from typing import Any

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context, seconds_to_ns
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.pingpong.system import PORT


def start(context: Context) -> Batches:
    client, server = _hosts(context)
    address = ("--address", server.address, "--port", str(PORT))
    return {
        client.name: [spawn(context, client, "pingpong-client")],
        server.name: [spawn(context, server, "pingpong-server", *address)],
    }


def listen(context: Context) -> Batches:
    _, server = _hosts(context)
    return {server.name: [Request("pingpong-server", "prepare")]}


def prepare(context: Context) -> Batches:
    _, server = _hosts(context)
    return _client(
        context,
        "prepare",
        server_address=server.address,
        server_port=PORT,
        connections=context.parameters["connections"],
    )


def begin(context: Context) -> Batches:
    return _client(
        context,
        "start",
        start_at_ns=context.start_at_ns,
        warmup_ns=seconds_to_ns(context.windows.warmup_s),
        measure_ns=seconds_to_ns(context.windows.measure_s),
    )


def wait(context: Context) -> Batches:
    deadline_s = context.windows.running_s + context.plan.deadlines["command"]
    return _client(context, "wait", deadline_s=deadline_s)


def collect(context: Context) -> Batches:
    _, server = _hosts(context)
    return {server.name: [Request("pingpong-server", "stats")], **_client(context, "stats")}


def _hosts(context: Context) -> tuple[DataHost, DataHost]:
    (client,), (server,) = (context.testbed.hosts_of(role) for role in ("clients", "servers"))
    return client, server


def _client(context: Context, command: str, **args: Any) -> Batches:
    client, _ = _hosts(context)
    return {client.name: [Request("pingpong-client", command, args)]}
