"""The released YCSB on the first client host, where a cell says so (docs/from-ycsb.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from turntable_core.components.supervisor import spawn_with_secret
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_core.testbed import DataHost
from turntable_systems.farreach import hosts, ycsb
from turntable_systems.farreach.methods import keeps_copies
from turntable_systems.farreach.placement import CONTROLLER_PORT, FIRST_PORT

NODE = "ycsbclient"


def start(context: Context) -> Batches:
    if not any(ycsb.drives(turn.cell.parameters) for turn in context.plan.turns):
        return {}
    host = _host(context)
    there = PurePosixPath(host.bin_dir).parent / "ycsb"  # scripts/ycsb-binding
    class_path = ("--class-path", f"{there}/classes:{there}/lib/*")
    return {host.name: [spawn_with_secret(context, host, NODE, *class_path)]}


def load(context: Context) -> Batches:
    """YCSB's load phase, to its end."""
    deadline_s = context.plan.deadlines["load"]
    return _ask(
        context,
        "load",
        lambda: {"arguments": _arguments(context, {}), "deadline_s": deadline_s},
    )


def begin(context: Context) -> Batches:
    """Its run phase, which begins at the common start if Java is ready by then."""
    windows = context.windows
    window = {
        "maxexecutiontime": ycsb.running_s(context.parameters),
        "kv.start_at_ns": context.start_at_ns,
        "kv.warmup_ms": round(windows.warmup_s * 1000),
        "kv.measure_ms": round(windows.measure_s * 1000),
    }
    return _ask(context, "start", lambda: {"arguments": _arguments(context, window)})


def wait(context: Context) -> Batches:
    left_s = context.windows.running_s + context.plan.deadlines["command"]
    return _ask(context, "wait", lambda: {"deadline_s": left_s})


def collect(context: Context) -> Batches:
    return _ask(context, "stats", dict)


def _ask(context: Context, command: str, args: Callable[[], dict[str, Any]]) -> Batches:
    """args: only cells that YCSB drives have what they are made of."""
    if not ycsb.drives(context.parameters):
        return {}
    return {_host(context).name: [Request(NODE, command, args())]}


def _arguments(context: Context, more: dict[str, Any]) -> list[str]:
    parameters, host = context.parameters, _host(context)
    first = hosts.servers(context.testbed)[0]
    properties = {
        "kv.server": f"{first.address}:{FIRST_PORT}",
        "kv.local": host.address,
        "kv.servers": parameters["servers"],
        "kv.timeout_ms": parameters["timeout_us"] // 1000,
        # A snapshot follows the load, and nothing is asked of the copies after the run.
        "kv.release_s": 0,
    }
    if keeps_copies(parameters):
        properties |= {
            "kv.controller": f"{first.control_address}:{CONTROLLER_PORT}",
            "kv.copies": parameters["cache_size"],
        }
    return [
        *ycsb.phase_arguments(parameters),
        *("-db", "turntable.ycsb.KvClient", "-threads", str(parameters["clients"])),
        *ycsb.as_options(properties | more),
    ]


def _host(context: Context) -> DataHost:
    return hosts.clients(context.testbed)[0]
