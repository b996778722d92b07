"""The system under test: memcached, the job beside it, and what keeps the two apart."""

from __future__ import annotations

import sys
from typing import Any

from turntable_core.components.supervisor import spawn
from turntable_core.context import Context, seconds_to_ns
from turntable_core.requests import Batches, Request
from turntable_systems.swan import isolation, kept, meaning, placement, server

NODE = "colocator"


def start(context: Context) -> Batches:
    host = server.host(context.testbed)
    return {host.name: [spawn(context, host, NODE)]}


def survey(context: Context) -> Batches:
    """What the machine is, and what it shows: before anything runs on it."""
    host = server.host(context.testbed)
    probe = {
        "placement": _placement(context),
        "seconds": context.parameters["probe_s"],
        "key": kept.key(context, _placement(context)),
        "directory": host.state_dir,
    }
    return _asked(
        context, Request(NODE, "reset"), Request(NODE, "platform"), _request("probe", probe)
    )


def prepare_alone(context: Context) -> Batches:
    """memcached afresh, for a block and for the search of its peak."""
    return _asked(context, _prepare(context, {"mechanism": isolation.NONE}, None, fresh=True))


def prepare(context: Context) -> Batches:
    fresh = context.parameters["fresh"] == meaning.FRESH_ITERATION
    job = context.iteration.data["job"]
    asked = isolation.request(context.parameters)
    return _asked(context, _prepare(context, asked, job and _here(context, job), fresh=fresh))


def settle(context: Context) -> Batches:
    return _asked(context, _request("settle", {"deadline_s": context.plan.deadlines["settle"]}))


def begin(context: Context) -> Batches:
    windows = context.windows
    instants = {
        "start_at_ns": context.start_at_ns,
        "warmup_ns": seconds_to_ns(windows.warmup_s),
        "measure_ns": seconds_to_ns(windows.measure_s),
        "drain_ns": seconds_to_ns(windows.drain_s),
    }
    return _asked(context, _request("start", instants))


def finish(context: Context) -> Batches:
    """Ends the job; answered when it is gone."""
    return _asked(context, _request("finish", {"deadline_s": context.plan.deadlines["finish"]}))


def collect(context: Context) -> Batches:
    return _asked(context, Request(NODE, "stats"))


def _prepare(
    context: Context, asked: dict[str, Any], job: dict[str, Any] | None, *, fresh: bool
) -> Request:
    args = {
        "placement": _placement(context),
        "isolation": asked,
        "memcached": server.settings(context.parameters, context.testbed, fresh=fresh),
        "aggressor": job,
    }
    return _request("prepare", args)


def _here(context: Context, job: dict[str, Any]) -> dict[str, Any]:
    """A job's command with the Python of its host: this one's has what it needs."""
    python = sys.executable if context.testbed.emulated else "python3"
    return job | {
        key: [word.replace("{python}", python) for word in job[key]]
        for key in ("command", "version")
        if key in job
    }


def _placement(context: Context) -> dict[str, Any]:
    return placement.request(context.parameters, context.testbed)


def _request(command: str, args: dict[str, Any]) -> Request:
    return Request(NODE, command, args)


def _asked(context: Context, *requests: Request) -> Batches:
    return {server.host(context.testbed).name: list(requests)}
