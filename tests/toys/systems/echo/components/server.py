"""The echo itself, on the server host."""

from __future__ import annotations

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_systems.echo.system import PORT

NODE = "echo-server"


def start(context: Context) -> Batches:
    (host,) = context.testbed.hosts_of("servers")
    address = ("--address", host.address, "--port", str(PORT))
    return {host.name: [spawn(context, host, NODE, *address)]}


def prepare(context: Context) -> Batches:
    return _asked(context, "prepare", capacity_per_s=context.parameters["capacity_per_s"])


def begin(context: Context) -> Batches:
    begin, end = context.window_ns()
    return _asked(context, "start", measure_from_ns=begin, measure_until_ns=end)


def collect(context: Context) -> Batches:
    return _asked(context, "stats")


def _asked(context: Context, command: str, **args: float) -> Batches:
    (host,) = context.testbed.hosts_of("servers")
    return {host.name: [Request(NODE, command, args)]}
