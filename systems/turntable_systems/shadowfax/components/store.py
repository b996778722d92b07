"""Servers: a store on a hybrid log each, on a host of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.components.supervisor import spawn_with_secret
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.shadowfax import placement, processors, store_size, text_stores, workloads

NODE = placement.SERVER
_LOG = "hlog"  # the file, by the original's name
_NO_SPLITS = 1  # of a cell without them
_DEVICE_S = 0.5  # for the device alone, where it has records


def start(context: Context) -> Batches:
    """The nodes of all cells: they stay while cells with fewer servers are measured."""
    return {
        host.name: [spawn_with_secret(context, host, NODE, "--address", host.address)]
        for host in placement.servers_of_run(context)
    }


def prepare(context: Context) -> Batches:
    """An empty store, for a turn; beside another store there is none."""
    parameters = context.parameters
    if text_stores.is_text(parameters):
        hosts = placement.servers_of_run(context)
        return {host.name: [Request(NODE, "stop", {})] for host in hosts}
    every = {
        "workers": parameters["threads"],
        "cpus": processors.listed(parameters["server_cpus"]),
        "index_bits": store_size.index_bits(parameters),
        "page_bits": parameters["page_bits"],
        "pages": store_size.pages(parameters),
        "mutable_share": parameters["mutable_share"],
        "reader_threads": parameters["reader_threads"],
        "uses_uring": parameters["uses_uring"],
        "most_pending": parameters["most_pending"],
        "spin_us": parameters["spin_us"],
        "capacity_per_s": parameters["capacity_per_s"],
        "range_check": parameters["range_check"],
        "splits": parameters.get("splits", _NO_SPLITS),
        "compact_above_bytes": parameters["compact_above"] or None,
    }
    return {
        host.name: [Request(NODE, "prepare", every | _of_server(context, host, number))]
        for number, host in enumerate(_hosts(context))
    }


def migrate(value: Mapping[str, Any], context: Context) -> Batches:
    """A range of keys begins to move: what the timeline's verb asks for."""
    source = _hosts(context)[value["from"]]
    parameters = context.parameters
    args = {
        "to": value["to"],
        "share": parameters["move_share"],
        "sample_s": parameters["sample_s"],
        "indirection": parameters["indirection"],
    }
    return {source.name: [Request(NODE, "migrate", args)]}


def _of_server(context: Context, host: DataHost, number: int) -> dict[str, Any]:
    file = f"{host.state_dir}/{_LOG}"
    metadata = placement.metadata(context.testbed, context.parameters)
    if metadata is None:
        return {"file": file}
    cluster = {
        "number": number,
        "metadata": metadata,
        "checkpoint": f"{file}.checkpoint",
        "checkpoint_s": context.parameters["checkpoint_s"],
    }
    return {"file": file, "cluster": cluster}


def begin(context: Context) -> Batches:
    if text_stores.is_text(context.parameters):
        return {}
    begin, end = context.window_ns()
    window = {"measure_from_ns": begin, "measure_until_ns": end}
    return {host.name: [Request(NODE, "start", window)] for host in _hosts(context)}


def collect(context: Context) -> Batches:
    """Statistics first: what comes after it reads the log, and takes processor time."""
    if text_stores.is_text(context.parameters):
        return {}
    requests = [Request(NODE, "stats"), Request(NODE, "device_reads", {"seconds": _DEVICE_S})]
    if workloads.keeps_sums(context.parameters):
        sums = {
            # Null: whatever keys there are.
            "keys": None if context.parameters["load_file"] else context.parameters["keys"],
            "deadline_s": context.plan.deadlines["collect"],
        }
        requests.append(Request(NODE, "sums", sums))
    return {host.name: list(requests) for host in _hosts(context)}


def _hosts(context: Context) -> tuple[DataHost, ...]:
    return placement.servers(context.testbed, context.parameters)
