"""Clients, on every client host: they fill the stores, then begin at one instant."""

from __future__ import annotations

from typing import Any

from turntable_core.components.supervisor import spawn_with_secret
from turntable_core.context import Context, seconds_to_ns
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.shadowfax import placement, processors, text_stores, workloads

NODE = placement.CLIENT


def start(context: Context) -> Batches:
    return {host.name: [spawn_with_secret(context, host, NODE)] for host in _hosts(context)}


def fill(context: Context) -> Batches:
    """Every client host stores a part of the keys, each with the value 0; what is longer has bytes
    behind it that say whether it is right.
    """
    threads, deadline_s = context.parameters["threads"], context.plan.deadlines["fill"]
    return _each(
        context,
        "fill",
        threads=threads,
        load_file=context.parameters["load_file"],
        batch_bytes=context.parameters["fill_batch_bytes"],
        pipeline=context.parameters["fill_pipeline"],
        deadline_s=deadline_s,
    )


def prepare(context: Context) -> Batches:
    parameters = context.parameters
    return _each(
        context,
        "prepare",
        threads=parameters["threads"],
        cpus=processors.listed(parameters["client_cpus"]),
        batch_operations=parameters["batch_operations"],
        pipeline=parameters["pipeline"],
        mix=dict(workloads.mix(parameters)),
        distribution=parameters["distribution"],
        theta=workloads.theta(parameters),
        txns_file=parameters["txns_file"],
        seed=parameters["seed"] + context.turn.round,
        rate_per_s=_rate_of_host(context),
        sample_ms=parameters["sample_ms"],
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


def _rate_of_host(context: Context) -> float | None:
    """None: pipelines are kept full."""
    rate = context.parameters["rate_per_s"]
    return rate / len(_hosts(context)) if rate else None


def _each(context: Context, command: str, **args: Any) -> Batches:
    """What the hosts share: the servers, the keys, and how long values are."""
    hosts = _hosts(context)
    metadata = placement.metadata(context.testbed, context.parameters)
    where = (
        {"metadata": metadata}
        if metadata
        else {"servers": placement.endpoints(context.testbed, context.parameters)}
    )
    common = args | {
        "protocol": text_stores.store(context.parameters),
        **where,
        "keys": context.parameters["keys"],
        "value_bytes": context.parameters["value_bytes"],
        "clients": len(hosts),
    }
    return {
        host.name: [Request(NODE, command, common | {"client": index})]
        for index, host in enumerate(hosts)
    }


def _asked(context: Context, command: str, **args: Any) -> Batches:
    return {host.name: [Request(NODE, command, args)] for host in _hosts(context)}


def _hosts(context: Context) -> tuple[DataHost, ...]:
    return placement.clients(context.testbed)
