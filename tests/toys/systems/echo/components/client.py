"""The open loop, on the client host."""

from __future__ import annotations

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context, seconds_to_ns
from turntable_core.requests import Batches, Request
from turntable_systems.echo.system import PORT

NODE = "echo-client"


def start(context: Context) -> Batches:
    (host,) = context.testbed.hosts_of("clients")
    return {host.name: [spawn(context, host, NODE, "--address", host.address)]}


def prepare(context: Context) -> Batches:
    (server,) = context.testbed.hosts_of("servers")
    return _asked(
        context,
        "prepare",
        server_address=server.address,
        server_port=PORT,
        rate_per_s=context.parameters["rate_per_s"],
        seed=context.iteration.data["seed"],
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


def _asked(context: Context, command: str, **args: float | str) -> Batches:
    (host,) = context.testbed.hosts_of("clients")
    return {host.name: [Request(NODE, command, args)]}
