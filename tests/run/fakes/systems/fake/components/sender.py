"""One per host that sends."""

from __future__ import annotations

from turntable_core.components.supervisor import spawn, spawn_with_secret
from turntable_core.context import Context
from turntable_core.requests import Batches, Request

NODE = "sender"


def start(context: Context) -> Batches:
    """The first one has control links."""
    first, *others = context.testbed.hosts_of("senders")
    return {
        first.name: [spawn_with_secret(context, first, NODE)],
        **{host.name: [spawn(context, host, NODE)] for host in others},
    }


def begin(context: Context) -> Batches:
    begin, end = context.window_ns()
    args = {"station": context.iteration.data["station"], "from_ns": begin, "until_ns": end}
    return {
        host.name: [Request(NODE, "start", args)] for host in context.testbed.hosts_of("senders")
    }
