"""The open loop: logical clients, dealt to the client hosts, that begin at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context, seconds_to_ns
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.netclone import methods, offered_load, service, work
from turntable_systems.netclone.placement import (
    CLIENT_PORT,
    clients_of,
    coordinator,
    places,
)

NODE = "rpcclient"


def start(context: Context) -> Batches:
    return {
        host.name: [
            spawn(
                context,
                host,
                NODE,
                *("--address", host.address, "--port", str(CLIENT_PORT)),
                *host.datagram_options,
            )
        ]
        for host in context.testbed.hosts_of("clients")
    }


def prepare(context: Context) -> Batches:
    parameters = context.parameters
    common = {
        "method": parameters["method"],
        "clients_total": parameters["clients"],
        "servers": [place.endpoint for place in places(context.testbed, parameters)],
        "rate_per_s": offered_load.sent_rps(parameters),
        "arrivals": offered_load.arrivals(parameters),
        "seed": work.seed_of(parameters, context.turn.round),
        "outstanding_max": parameters["outstanding_max"],
        "give_up_ms": work.give_up_ms(parameters),
        "record_latencies": parameters["record_latencies"],
        "work": work.of_cell(parameters),
        **_where(context),
        **_mix(parameters),
    }
    return {
        host.name: [
            Request(
                NODE,
                "prepare",
                common | {"clients": clients_of(index, context.testbed, parameters)},
            )
        ]
        for index, host in enumerate(_hosts(context))
    }


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
    """The first host replays what all of them sent."""
    batches = _asked(context, "stats")
    batches[_hosts(context)[0].name].append(Request(NODE, "replay"))
    return batches


def _where(context: Context) -> dict[str, Any]:
    """Where requests go that are for no server yet."""
    place = places(context.testbed, context.parameters)[0]
    if context.parameters["method"] == methods.LAEDGE:
        return {"coordinator": coordinator(context.testbed).endpoint}
    return (
        {"switch_server_address": place.endpoint} if methods.by_switch(context.parameters) else {}
    )


def _mix(parameters: Mapping[str, Any]) -> dict[str, Any]:
    mix = service.mix_of(parameters)
    if not mix:
        return {}
    return {"mix": mix, "objects": parameters["objects"], "theta": parameters["theta"]}


def _asked(context: Context, command: str, **args: Any) -> Batches:
    return {host.name: [Request(NODE, command, args)] for host in _hosts(context)}


def _hosts(context: Context) -> tuple[DataHost, ...]:
    """Those that have a client."""
    return context.testbed.hosts_of("clients")[: context.parameters["clients"]]
