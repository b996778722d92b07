"""Whether a cell's parameters fit each other and the testbed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from turntable_core.system import Check
from turntable_core.testbed import Testbed
from turntable_systems.netclone import offered_load, service

Parameters = Mapping[str, Any]

MOST_WORKERS = 64  # of one server
LONGEST_WINDOW_S = 3600  # of a client (src/load/client_life.cc)
MOST_REQUESTS = 50_000_000  # of an iteration: every client draws and remembers its own
# Below, the artifact's process asks for the logarithm of a negative number.
_LEGACY_LEAST_RPS = 2000
_ROUNDING = 1e-9
MOST_CLIENTS = 64  # for a processor that all nodes share: each is a thread that goes before others


def _servers(parameters: Parameters, testbed: Testbed) -> str | None:
    if parameters["method"] != "noclone" and parameters["servers"] < 2:
        return (
            "at least 2: a request and its clone are for different servers, and the switch's "
            "groups are the n(n-1) ordered pairs of n servers"
        )
    return None


def _unequal_workers(parameters: Parameters, testbed: Testbed) -> str | None:
    text = parameters.get("unequal_workers")
    if not text:
        return None
    slots, servers = offered_load.slots(parameters), parameters["servers"]
    if len(slots) != servers or not all(1 <= count <= MOST_WORKERS for count in slots):
        return f"{servers} numbers from 1 to {MOST_WORKERS} joined with +, one for each server"
    return None


def _clients(parameters: Parameters, testbed: Testbed) -> str | None:
    machines = len(testbed.hosts_of("clients"))
    if testbed.emulated:
        most = MOST_CLIENTS * len(os.sched_getaffinity(0))
        if parameters["clients"] > most:
            return f"at most {most}: each is a thread, and all hosts share this machine"
    if parameters["clients"] % machines and parameters["clients"] > machines:
        return f"a multiple of {machines}, the number of client hosts, or fewer than these"
    return None


def _mode(parameters: Parameters, testbed: Testbed) -> str | None:
    if parameters["mode"] != "spin":
        return None
    if testbed.emulated:
        processors, wanted = len(os.sched_getaffinity(0)), sum(offered_load.slots(parameters))
        if wanted > processors:
            return (
                f"slots: workers that spin need a processor each, all servers together {wanted}, "
                f"and this machine has {processors}"
            )
    elif parameters["servers"] > len(testbed.hosts_of("servers")):
        return "slots, or as many server hosts as servers: workers that spin share no host"
    return None


def _dilation(parameters: Parameters, testbed: Testbed) -> str | None:
    undilated = parameters["mode"] == "redis" and parameters["dilation"] == 1
    if undilated and testbed.emulated:
        return (
            "more than 1: undilated, Redis itself takes the time, and all servers share this "
            "machine"
        )
    return None


def _distribution(parameters: Parameters, testbed: Testbed) -> str | None:
    of_redis = parameters["distribution"] == service.REDIS
    if of_redis and parameters["mode"] != "redis":
        return "another one, or -e mode=redis: these times are those of GET and SCAN"
    if parameters["mode"] == "redis" and not of_redis:
        return "redis: the times of GET and SCAN"
    return None


def _requests(parameters: Parameters, testbed: Testbed) -> str | None:
    window_s = offered_load.measure_s(parameters)
    if window_s > LONGEST_WINDOW_S:
        return f"so few that they take at most {LONGEST_WINDOW_S:,} s, not {window_s:,.0f} s"
    seconds = parameters["warmup_s"] + window_s
    if offered_load.sent_rps(parameters) * seconds > MOST_REQUESTS:
        return f"so many that warm-up and window have at most {MOST_REQUESTS:,} requests together"
    return None


def _arrivals(parameters: Parameters, testbed: Testbed) -> str | None:
    each = offered_load.offered_rps(parameters) / parameters["clients"]
    if parameters["arrivals"] == "legacy" and each < _LEGACY_LEAST_RPS * (1 - _ROUNDING):
        return (
            f"exponential: the artifact's own process (legacy) has no rates below "
            f"{_LEGACY_LEAST_RPS:,} requests/s of a client, and each offers {each:,.0f} here"
        )
    return None


CHECKS = (
    Check("servers", _servers, beside=("method",)),
    Check("unequal_workers", _unequal_workers, beside=("servers",)),
    Check("clients", _clients),
    Check("mode", _mode, beside=("workers", "servers")),
    Check("dilation", _dilation, beside=("mode",)),
    Check("distribution", _distribution, beside=("mode",)),
    Check("requests", _requests, beside=("measure_s", "load")),
    Check("arrivals", _arrivals, beside=("load", "target_rps", "clients")),
)
