"""Load generators, one on each client host, that begin at one instant."""

from __future__ import annotations

import hashlib
from typing import Any

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context, seconds_to_ns
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.swan import kept, placement, server

NODE = "mcload-node"
# What the peak depends on, beside the run: memcached, its processors, and how it is loaded.
_OF_PEAK = (
    *("layout", "hp_count", "hp_cpus", "threads", "threads_affinity"),
    *("be_count", "l1_cpus", "l3_cpus", "generator_cpus", "realtime", "spin_us"),
    *("transport", "protocol", "connections", "depth", "client_threads", "arrivals", "update"),
    *("records", "key_size", "value_size", "memory_mb", "percentile", "slo_us", "drain_s"),
)


def start(context: Context) -> Batches:
    return {host.name: [spawn(context, host, NODE)] for host in _hosts(context)}


def populate(context: Context) -> Batches:
    """By the first one; nothing is stored twice."""
    return _first(context, "populate", deadline_s=context.plan.deadlines["populate"])


def tune(context: Context) -> Batches:
    """The peak, unless it is given: searched once in a run, from the first client host."""
    parameters = context.parameters
    if parameters["peak_load"]:
        return {}
    (host, *_) = _hosts(context)
    search = {
        "percentile": parameters["percentile"],
        "limit_us": parameters["slo_us"],
        "seconds": parameters["tune_s"],
        "warmup_s": parameters["warmup_s"],
        "drain_s": parameters["drain_s"],
        "repeats": parameters["tune_repeats"],
    }
    return _first(
        context,
        "tune",
        load=_load(context),
        search=search,
        key=_peak_key(context),
        directory=host.state_dir,
        seed=parameters["seed"],
        placement=_placement(context),
        realtime=parameters["realtime"],
        spin_us=parameters["spin_us"],
        deadline_s=context.plan.deadlines["tune"],
    )


def prepare(context: Context) -> Batches:
    hosts = _hosts(context)
    common = _server(context) | _load(context) | _rate(context)
    own = {
        "clients": len(hosts),
        "seed": _seed(context),
        "placement": _placement(context),
        "realtime": context.parameters["realtime"],
        "spin_us": context.parameters["spin_us"],
    }
    return {
        host.name: [Request(NODE, "prepare", common | own | {"client": index})]
        for index, host in enumerate(hosts)
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
    return _asked(context, "stats")


def _server(context: Context) -> dict[str, Any]:
    parameters = context.parameters
    return {
        "server": server.endpoint(parameters, context.testbed),
        "protocol": parameters["protocol"],
        "content": server.content(parameters),
    }


def _load(context: Context) -> dict[str, Any]:
    """The node has connections of each thread, the parameter those of a host."""
    parameters = context.parameters
    threads = parameters["client_threads"]
    return {
        "threads": threads,
        "connections": parameters["connections"] // threads,
        "arrivals": placement.with_commas(parameters["arrivals"]),
        **{name: parameters[name] for name in ("depth", "update")},
    }


def _rate(context: Context) -> dict[str, Any]:
    load, peak = context.iteration.data["load"], context.parameters["peak_load"]
    if peak:
        return {"rate_per_s": peak * load}
    return {"peak_share": load, "peak_key": _peak_key(context)}


def _peak_key(context: Context) -> str:
    """The same for all cells of a run whose memcached is the same, whatever runs beside it."""
    return kept.key(context, {name: context.parameters.get(name) for name in _OF_PEAK})


def _seed(context: Context) -> int:
    """Of an iteration: no two have the same arrivals."""
    text = f"{context.parameters['seed']} {context.turn.round} {context.iteration.index}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def _placement(context: Context) -> dict[str, Any]:
    asked = placement.request(context.parameters, context.testbed)
    return asked | {"use": "generator"}


def _first(context: Context, command: str, **args: Any) -> Batches:
    (host, *_) = _hosts(context)
    return {host.name: [Request(NODE, command, _server(context) | args)]}


def _asked(context: Context, command: str, **args: Any) -> Batches:
    return {host.name: [Request(NODE, command, args)] for host in _hosts(context)}


def _hosts(context: Context) -> tuple[DataHost, ...]:
    return context.testbed.hosts_of("clients")
