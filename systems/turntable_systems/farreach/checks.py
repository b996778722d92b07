"""Whether a cell's parameters fit each other and the testbed."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from turntable_core.system import Check
from turntable_core.testbed import Testbed
from turntable_systems.farreach import hosts
from turntable_systems.farreach.methods import (
    WRITE_BACK,
    caches,
    crash_of,
    keeps_copies,
    snapshot_period_s,
)


def settling_s(parameters: Mapping[str, Any]) -> float:
    """How long a closed loop takes to be steady after all clients have begun at once.

    The time in which one server answers every client twice; 0 when servers have no limit.
    """
    capacity = parameters["capacity_ops_per_s"]
    return 2 * parameters["clients"] / capacity if capacity else 0.0


def _clients(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    machines = len(hosts.clients(testbed))
    if parameters["clients"] % machines:
        return f"a multiple of {machines}, the number of client hosts"
    return None


def _cache_size(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if caches(parameters) and parameters["cache_size"] > parameters["records"]:
        return f"at most records = {parameters['records']:,}"
    return None


def _operations(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if parameters["operations"] < parameters["clients"]:
        return f"at least one operation per client: clients = {parameters['clients']}"
    return None


def _warmup(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    least_s = settling_s(parameters)
    if parameters["warmup_s"] < least_s:
        return (
            f"at least 2 * clients / capacity_ops_per_s = {least_s:g} s, "
            "in which the closed loop settles"
        )
    return None


def _delay(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if parameters["switch_processing_delay_ns"] and testbed.switch.target != "soft":
        return "0: only a software switch can be slowed"
    return None


def _crash(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if crash_of(parameters) and parameters["method"] not in WRITE_BACK:
        return (
            f"none, or -e method={'|'.join(WRITE_BACK)}: the switch of other methods has no "
            "records that nobody else has"
        )
    return None


# Of the window: what a snapshot that begins in it may take.
_SNAPSHOT_SHARE = 0.25


def _client_copies(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if crash_of(parameters) and not keeps_copies(parameters):
        return "true: a killed switch is recovered from the clients' copies"
    return None


def _snapshot_period(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    period_s, measure_s = snapshot_period_s(parameters), parameters["measure_s"]
    if period_s == 0:
        return None
    warmup_s = parameters["warmup_s"]
    first_s = ceil(warmup_s / period_s) * period_s  # of the instants in the window
    if first_s + _SNAPSHOT_SHARE * measure_s > warmup_s + measure_s:
        return (
            f"0: none, or a period of which an instant lies in the first "
            f"{1 - _SNAPSHOT_SHARE:.0%} of the window, so that a snapshot can be complete before "
            f"its end: measure_s / 2 = {measure_s / 2:g} s always does"
        )
    return None


CHECKS = (
    Check("clients", _clients),
    Check("cache_size", _cache_size, beside=("records",)),
    Check("operations", _operations, beside=("clients",)),
    Check("warmup_s", _warmup, beside=("clients", "capacity_ops_per_s")),
    Check("switch_processing_delay_ns", _delay),
    Check("crash", _crash, beside=("method",)),
    Check("client_copies", _client_copies, beside=("crash",)),
    Check("snapshot_period_s", _snapshot_period, beside=("measure_s", "warmup_s")),
)
