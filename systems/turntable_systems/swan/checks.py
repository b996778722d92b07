"""Whether a cell's parameters fit each other and the testbed."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import Any

from turntable_core.errors import TurntableError, did_you_mean
from turntable_core.system import Check
from turntable_core.testbed import Testbed
from turntable_systems.swan import aggressors, distributions, placement, server
from turntable_systems.swan.loads import LEAST, MOST, loads

Parameters = Mapping[str, Any]

_LONGEST_KEY, _LARGEST_VALUE = 250, 1_000_000  # bytes that mcload sends

_CPUS = re.compile(r"\d+(-\d+)?([,+]\d+(-\d+)?)*")


def _loads(parameters: Parameters, testbed: Testbed) -> str | None:
    try:
        loads(parameters)
    except ValueError:
        return (
            f"shares of the peak from small to large, at least {LEAST:g} and at most {MOST:g}, "
            "that differ in their first three digits, such as 0.5+0.75+1"
        )
    return None


def _aggressors_file(parameters: Parameters, testbed: Testbed) -> str | None:
    try:
        aggressors.known(parameters)
    except TurntableError as error:
        return f"a file of jobs in the form of experiments/swan/jobs/aggressors.yml; {error}"
    return None


def _aggressors(parameters: Parameters, testbed: Testbed) -> str | None:
    named = aggressors.names(parameters)
    try:
        known = aggressors.known(parameters)
    except TurntableError:
        return None  # the check above says it
    if aggressors.BASELINE in named:
        return "jobs alone: the baseline is always measured (`baselines` says how often)"
    for name in named:
        if name not in known:
            return (
                f"names of jobs joined with +; {name!r} is none{did_you_mean(name, known)}. "
                f"Known: {', '.join(known)}; others from -e aggressors_file=FILE"
            )
    if len(set(named)) < len(named):
        return "each job once"
    return None


def _cpus_of(name: str) -> Check:
    def expected(parameters: Parameters, testbed: Testbed) -> str | None:
        text = str(parameters.get(name, ""))
        if parameters["layout"] == placement.MANUAL and not text and name in placement.RANGES:
            return "processors such as 0-2 or 0+4: layout manual needs hp_cpus, l1_cpus and l3_cpus"
        if text and not _CPUS.fullmatch(text):
            return "processors such as 0-2 or 0+4"
        return None

    return Check(name, expected, beside=("layout",))


def _transport(parameters: Parameters, testbed: Testbed) -> str | None:
    if parameters["transport"] != server.UNIX:
        return None
    if not testbed.emulated:
        return "tcp: generator and memcached share no file system"
    if parameters["memcached_user"] != "root":
        return "tcp: memcached binds as memcached_user, in a directory of root's"
    return None


def _peak_load(parameters: Parameters, testbed: Testbed) -> str | None:
    if not parameters["peak_load"] and len(testbed.hosts_of("clients")) > 1:
        return (
            "requests/s: the search is made from one client host, and this testbed has "
            f"{len(testbed.hosts_of('clients'))}. Find it with `mcload --search` and agents"
        )
    return None


def _connections(parameters: Parameters, testbed: Testbed) -> str | None:
    threads = parameters["client_threads"]
    if parameters["connections"] % threads:
        return f"a multiple of {threads}, the generator's threads (client_threads)"
    wanted = parameters["connections"] * len(testbed.hosts_of("clients"))
    taken = max(0, parameters["max_connections"] - server.own_descriptors(parameters))
    if wanted > taken:
        return (
            f"so few that those of all client hosts, {wanted}, are no more than the {taken} "
            "that memcached takes beside its own descriptors (max_connections, "
            f"{parameters['max_connections']})"
        )
    return None


def _size(name: str, most: int) -> Check:
    def expected(parameters: Parameters, testbed: Testbed) -> str | None:
        text = str(parameters[name])
        if wrong := distributions.wrong_size(text):
            return f"{distributions.SIZES}: {wrong}"
        if not 0 <= (distributions.always(text) or 0) <= most:
            return f"at most {most:,} bytes"
        return None

    return Check(name, expected)


def _arrivals(parameters: Parameters, testbed: Testbed) -> str | None:
    wrong = distributions.wrong_gaps(str(parameters["arrivals"]))
    return f"{distributions.GAPS}: {wrong}" if wrong else None


def _memory_mb(parameters: Parameters, testbed: Testbed) -> str | None:
    """memcached forgets what it has no memory for. The node looks again when it has stored all."""
    least = server.least_bytes(parameters)
    if least is None or least <= parameters["memory_mb"] << 20:
        return None
    return (
        f"at least {math.ceil(least / (1 << 20)):,} MB for {parameters['records']:,} records of "
        f"{parameters['key_size']} + {parameters['value_size']} bytes, or fewer records"
    )


def _slo_us(parameters: Parameters, testbed: Testbed) -> str | None:
    """A request without an answer counts with the drain: it must not pass for one that was quick
    enough.
    """
    if parameters["slo_us"] < 1e6 * parameters["drain_s"]:
        return None
    return (
        f"less than the wait for answers, {1e6 * parameters['drain_s']:,.0f} us (drain_s): a "
        "request that is never answered counts with that"
    )


def _threads(parameters: Parameters, testbed: Testbed) -> str | None:
    """More of memcached's threads than processors show nothing but their own switching."""
    least = parameters["least_processors"]
    if not testbed.emulated or len(os.sched_getaffinity(0)) >= least:
        return None
    return (
        f"a machine with {least} processors or more (least_processors): this one has "
        f"{len(os.sched_getaffinity(0))}, which memcached's threads and the generator would share. "
        "Use an inventory of other machines"
    )


CHECKS = (
    Check("loads", _loads),
    Check("aggressors_file", _aggressors_file),
    Check("aggressors", _aggressors, beside=("aggressors_file",)),
    *(_cpus_of(name) for name in (*placement.RANGES, "generator_cpus")),
    Check("transport", _transport, beside=("memcached_user",)),
    Check("peak_load", _peak_load),
    Check("connections", _connections, beside=("client_threads", "max_connections", "threads")),
    Check("threads", _threads, beside=("least_processors",)),
    _size("key_size", _LONGEST_KEY),
    _size("value_size", _LARGEST_VALUE),
    Check("arrivals", _arrivals),
    Check("memory_mb", _memory_mb, beside=("records", "key_size", "value_size")),
    Check("slo_us", _slo_us, beside=("drain_s",)),
)
