"""What the switch caches is decided beside the first server (docs/kvcache.md §7)."""

from __future__ import annotations

from turntable_core.components.supervisor import spawn_with_secret
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.farreach import hosts
from turntable_systems.farreach.methods import caches, keeps_copies, snapshot_period_s
from turntable_systems.farreach.placement import AGENT_PORT, CONTROLLER_PORT
from turntable_systems.farreach.rotation import partitions_of
from turntable_systems.farreach.workload import workload_of

NODE = "cache-controller"


def start(context: Context) -> Batches:
    host = _host(context)
    address = ("--address", host.control_address, "--port", str(CONTROLLER_PORT))
    return {host.name: [spawn_with_secret(context, host, NODE, *address)]}


def configure(context: Context) -> Batches:
    """The turn's hottest keys are admitted, whether their servers run or not."""
    if not caches(context.parameters):
        return {_host(context).name: [Request(NODE, "stop")]}
    parameters = context.parameters
    agent = {
        "method": parameters["method"],
        "scale": parameters["servers"],
        "agent_address": context.testbed.switch.control_address,
        "agent_port": AGENT_PORT,
    }
    warm_up = {
        "workload": workload_of(context.turn),
        "count": parameters["cache_size"],
        "deadline_s": context.plan.deadlines["configure"],
    }
    return {
        _host(context).name: [
            Request(NODE, "configure", agent),
            Request(NODE, "warm_up", warm_up),
        ]
    }


def prepare(context: Context) -> Batches:
    """The running servers began with fresh stores: the slots of their keys follow, before any
    client sends. The answer's digest is that of the set that the switch must have. Snapshots of the
    iteration before end.
    """
    if not caches(context.parameters):
        return {}
    args = {
        "partitions": partitions_of(context.iteration),
        "prefill": context.parameters.get("cache_prefill", True),
        "deadline_s": context.plan.deadlines["prepare"],
    }
    readmit = Request(NODE, "readmit", args)
    if not snapshot_period_s(context.parameters):
        return {_host(context).name: [readmit]}
    end_snapshots = Request(NODE, "settings", {"snapshot_period_s": 0})
    return {_host(context).name: [end_snapshots, readmit]}


def begin(context: Context) -> Batches:
    """Snapshots are taken from the clients' common start on, so that the window has as many of
    them in every iteration.
    """
    if not caches(context.parameters):
        return {}
    stats = Request(NODE, "stats")  # counts that only grow: what is of this iteration begins here
    period_s = snapshot_period_s(context.parameters)
    if not period_s:
        return {_host(context).name: [stats]}
    args = {"snapshot_period_s": period_s, "snapshot_from_ns": context.start_at_ns}
    return {_host(context).name: [Request(NODE, "settings", args), stats]}


def snapshot(context: Context) -> Batches:
    """After YCSB's load phase: the copies of what only the switch has ended with its process."""
    if not keeps_copies(context.parameters):
        return {}
    args = {"deadline_s": context.plan.deadlines["prepare"]}
    return {_host(context).name: [Request(NODE, "snapshot", args)]}


def recover(context: Context) -> Batches:
    """Brings back what the killed switch had, before it forwards anything; then once more: whatever
    the first time has missed would be newer than the servers' records.
    """
    args = {
        "clients": len(hosts.clients(context.testbed)),
        "partitions": partitions_of(context.iteration),
        "deadline_s": context.plan.deadlines["prepare"] / 2,
    }
    return {_host(context).name: [Request(NODE, "recover", args)] * 2}


def collect(context: Context) -> Batches:
    return {_host(context).name: [Request(NODE, "stats")]} if caches(context.parameters) else {}


def _host(context: Context) -> DataHost:
    return hosts.servers(context.testbed)[0]
