"""The metadata service of servers between which keys move: on the first server's host."""

from __future__ import annotations

from turntable_core.components.supervisor import spawn_with_secret
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.shadowfax import placement

NODE = placement.METADATA
_STATE = "hlmeta.json"


def start(context: Context) -> Batches:
    if not any(cell.parameters["cluster"] for cell in context.plan.cells):
        return {}
    host = _host(context)
    return {host.name: [spawn_with_secret(context, host, NODE, "--address", host.address)]}


def prepare(context: Context) -> Batches:
    """A new state, for a turn."""
    if not context.parameters["cluster"]:
        return {}
    host = _host(context)
    args = {
        "port": placement.METADATA_PORT,
        "file": f"{host.state_dir}/{_STATE}",
        "owners": context.parameters["owners"] or context.parameters["servers"],
    }
    return {host.name: [Request(NODE, "prepare", args)]}


def collect(context: Context) -> Batches:
    if not context.parameters["cluster"]:
        return {}
    return {_host(context).name: [Request(NODE, "stats")]}


def _host(context: Context) -> DataHost:
    return placement.servers_of_run(context)[0]
