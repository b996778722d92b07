"""memcached or Redis on the servers' hosts, in cells whose `store` is one of them."""

from __future__ import annotations

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.shadowfax import placement, processors, text_stores, workloads

NODE = placement.TEXT_SERVER


def start(context: Context) -> Batches:
    if not in_run(context):
        return {}
    return {
        host.name: [spawn(context, host, NODE, "--address", host.address)]
        for host in placement.servers_of_run(context)
    }


def in_run(context: Context) -> bool:
    return any(text_stores.is_text(cell.parameters) for cell in context.plan.cells)


def prepare(context: Context) -> Batches:
    """An empty store, for a turn; in other turns the one before ends."""
    if not in_run(context):
        return {}
    parameters = context.parameters
    if not text_stores.is_text(parameters):
        hosts = placement.servers_of_run(context)
        return {host.name: [Request(NODE, "stop", {})] for host in hosts}
    store = text_stores.store(parameters)
    return _asked(
        context,
        "prepare",
        store=store,
        port=text_stores.PORTS[store],
        cpus=processors.listed(parameters["server_cpus"]),
        **text_stores.settings(parameters),
    )


def begin(context: Context) -> Batches:
    if not text_stores.is_text(context.parameters):
        return {}
    begin, end = context.window_ns()
    return _asked(context, "start", measure_from_ns=begin, measure_until_ns=end)


def collect(context: Context) -> Batches:
    """Statistics first: reading all values takes processor time."""
    parameters = context.parameters
    if not text_stores.is_text(parameters):
        return {}
    requests = [Request(NODE, "stats")]
    if workloads.keeps_sums(parameters):
        sums = {"keys": parameters["keys"], "deadline_s": context.plan.deadlines["collect"]}
        requests.append(Request(NODE, "sums", sums))
    return {host.name: list(requests) for host in _hosts(context)}


def _asked(context: Context, command: str, **args: object) -> Batches:
    return {host.name: [Request(NODE, command, args)] for host in _hosts(context)}


def _hosts(context: Context) -> tuple[DataHost, ...]:
    return placement.servers(context.testbed, context.parameters)
