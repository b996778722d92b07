"""Servers: a store on a hybrid log each, on a host of its own."""

from __future__ import annotations

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.shadowfax import placement, processors, store_size, workloads

NODE = placement.SERVER
_LOG = "hlog"  # the file, by the original's name


def start(context: Context) -> Batches:
    """The nodes of all cells: they stay while cells with fewer servers are measured."""
    return {
        host.name: [spawn(context, host, NODE, "--address", host.address)]
        for host in placement.servers_of_run(context)
    }


def prepare(context: Context) -> Batches:
    """An empty store, for a turn."""
    parameters = context.parameters
    every = {
        "workers": parameters["threads"],
        "cpus": processors.listed(parameters["server_cpus"]),
        "index_bits": store_size.index_bits(parameters),
        "page_bits": parameters["page_bits"],
        "pages": store_size.pages(parameters),
        "mutable_share": parameters["mutable_share"],
        "reader_threads": parameters["reader_threads"],
        "most_pending": parameters["most_pending"],
        "spin_us": parameters["spin_us"],
        "compact_above_bytes": parameters["compact_above"] or None,
    }
    return {
        host.name: [Request(NODE, "prepare", every | {"file": f"{host.state_dir}/{_LOG}"})]
        for host in _hosts(context)
    }


def begin(context: Context) -> Batches:
    begin, end = context.window_ns()
    window = {"measure_from_ns": begin, "measure_until_ns": end}
    return {host.name: [Request(NODE, "start", window)] for host in _hosts(context)}


def collect(context: Context) -> Batches:
    """Statistics first: adding up values reads the log, and takes processor time."""
    requests = [Request(NODE, "stats")]
    if workloads.keeps_sums(context.parameters):
        sums = {
            "keys": context.parameters["keys"],
            "deadline_s": context.plan.deadlines["collect"],
        }
        requests.append(Request(NODE, "sums", sums))
    return {host.name: list(requests) for host in _hosts(context)}


def _hosts(context: Context) -> tuple[DataHost, ...]:
    return placement.servers(context.testbed, context.parameters)
