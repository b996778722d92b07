"""What single values cannot show: whether a cell's parameters fit each other and the testbed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import ceil
from typing import Any

from turntable_core.errors import InputError
from turntable_core.methods import (
    WRITE_BACK,
    caches,
    crash_of,
    keeps_copies,
    snapshot_period_s,
)
from turntable_core.overrides import WHERE
from turntable_core.plan import Cell
from turntable_core.testbed import Testbed


def check_plan(cells: Iterable[Cell], testbed: Testbed, origins: Mapping[str, str]) -> None:
    """origins: parameter -> where its value was given, for messages."""
    for cell in cells:
        for parameter, others, expectation in _RULES:
            expected = expectation(cell.parameters, testbed)
            if expected is not None:
                value = cell.parameters[parameter]
                expected += _what_to_add(cell.parameters, parameter, others, origins)
                raise InputError(origins[parameter], parameter, value, expected)


def _what_to_add(
    parameters: Mapping[str, Any],
    parameter: str,
    others: Iterable[str],
    origins: Mapping[str, str],
) -> str:
    """An experiment's value that does not fit what the user chose is not to be edited."""
    if origins[parameter].startswith(WHERE):
        return ""
    chosen = [name for name in others if origins.get(name, "").startswith(WHERE)]
    if not chosen:
        return ""
    given = " ".join(f"-e {name}={parameters[name]}" for name in chosen)
    return f". Beside {given}, give such a value: -e {parameter}=…"


def settling_s(parameters: Mapping[str, Any]) -> float:
    """How long a closed loop takes to be steady after all clients have begun at once.

    The time in which one server answers every client twice; 0 when servers have no limit.
    """
    capacity = parameters["capacity_ops_per_s"]
    return 2 * parameters["clients"] / capacity if capacity else 0.0


def _clients(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    hosts = len(testbed.clients)
    if parameters["clients"] % hosts:
        return f"a multiple of {hosts}, the number of client hosts"
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


# Parameter, others that decide what it may be, and what is expected of its value beside theirs, or
# None if it is as expected.
_RULES: tuple[
    tuple[str, tuple[str, ...], Callable[[Mapping[str, Any], Testbed], str | None]], ...
] = (
    ("clients", (), _clients),
    ("cache_size", ("records",), _cache_size),
    ("operations", ("clients",), _operations),
    ("warmup_s", ("clients", "capacity_ops_per_s"), _warmup),
    ("switch_processing_delay_ns", (), _delay),
    ("crash", ("method",), _crash),
    ("client_copies", ("crash",), _client_copies),
    ("snapshot_period_s", ("measure_s", "warmup_s"), _snapshot_period),
)
