"""Whether a cell's parameters fit each other and the testbed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from turntable_core.errors import TurntableError, did_you_mean
from turntable_core.system import Check
from turntable_core.testbed import Testbed
from turntable_systems.swan import aggressors, placement, server
from turntable_systems.swan.loads import MOST, loads

Parameters = Mapping[str, Any]

_CPUS = re.compile(r"\d+(-\d+)?([,+]\d+(-\d+)?)*")


def _loads(parameters: Parameters, testbed: Testbed) -> str | None:
    try:
        loads(parameters)
    except ValueError:
        return (
            f"shares of the peak from small to large, more than 0 and at most {MOST:g}, such as "
            "0.5+0.75+1"
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
    if parameters["transport"] == server.UNIX and not testbed.emulated:
        return "tcp: generator and memcached share no file system"
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
    if wanted >= parameters["max_connections"]:
        return (
            f"so few that those of all client hosts, {wanted}, are fewer than memcached takes "
            f"(max_connections, {parameters['max_connections']})"
        )
    return None


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
    Check("transport", _transport),
    Check("peak_load", _peak_load),
    Check("connections", _connections, beside=("client_threads", "max_connections")),
    Check("threads", _threads, beside=("least_processors",)),
)
