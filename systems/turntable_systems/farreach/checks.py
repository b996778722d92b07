"""Whether a cell's parameters fit each other and the testbed."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import Any

from turntable_core.switch import CRASH, driver_of
from turntable_core.system import Check
from turntable_core.testbed import Testbed
from turntable_systems.farreach import hosts, idle_path, offered, popularity, recorded, ycsb
from turntable_systems.farreach.closed_loop import settling_s
from turntable_systems.farreach.methods import (
    WRITE_BACK,
    caches,
    crash_of,
    keeps_copies,
    snapshot_period_s,
)
from turntable_systems.farreach.rotation import rotates

# Relaxation times of a queue, after which less than 2 % of its beginning is left.
_RELAXATIONS = 4
_FULL = 0.99  # beyond it no queue settles, and none has to


def relaxation_s(parameters: Mapping[str, Any]) -> float:
    """How long the queues of an open loop take to be steady: that of one server with Poisson
    arrivals has a relaxation time of about load / (capacity * (1 - load)^2).
    """
    capacity, load = parameters["capacity_ops_per_s"], parameters.get("target_share", 0)
    if not capacity or load >= _FULL:
        return 0.0
    return _RELAXATIONS * load / capacity / (1 - load) ** 2


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


def _open_warmup(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    machines = len(hosts.clients(testbed))
    idle_s = idle_path.length_s(parameters, machines)
    least_s = idle_s + relaxation_s(parameters)
    if parameters["warmup_s"] >= least_s:
        return None
    return (
        f"at least {least_s:.3g} s: {idle_s:.3g} s for path_probes of {machines} client hosts one "
        "after the other, then time for the servers' queues to become what the load makes them"
    )


def _warmup(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if offered.is_open(parameters):
        return _open_warmup(parameters, testbed)
    least_s = settling_s(parameters)
    if parameters["warmup_s"] < least_s:
        return (
            f"at least 2 * clients / capacity_ops_per_s = {least_s:g} s, "
            "in which the closed loop settles"
        )
    return None


def _targets(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if parameters.get("target_share") and parameters.get("target_ops_per_s"):
        return "0 where target_share is given: one of the two"
    return None


def _target_pattern(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if offered.is_open(parameters) and parameters.get("pattern", "stable") != "stable":
        return "stable, or closed loops (-e target_share=0 -e target_ops_per_s=0)"
    return None


def _maximum(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    capacity, share = parameters["capacity_ops_per_s"], parameters.get("target_share", 0)
    if share and not capacity and not parameters.get("maximum_ops_per_s"):
        return (
            "a target in ops/s (-e target_share=0 -e target_ops_per_s=200000), or what it is a "
            "share of (-e maximum_ops_per_s=… of an unthrottled run): servers without a capacity "
            "have no maximum that could be known before"
        )
    return None


def _delay(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    delay_ns = parameters["switch_processing_delay_ns"]
    fault = driver_of(testbed.switch).setting_fault("processing_delay_ns", delay_ns)
    return fault and f"{fault}. Only a software switch that is driven as such can be slowed"


def _crash(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if crash_of(parameters) and parameters["method"] not in WRITE_BACK:
        return (
            f"none, or -e method={'|'.join(WRITE_BACK)}: the switch of other methods has no "
            "records that nobody else has"
        )
    if crash_of(parameters) and (why := driver_of(testbed.switch).cannot.get(CRASH)):
        return f"none: {why}"
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


def _rotation(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    running = len(hosts.servers(testbed))
    if not rotates(parameters) and parameters["servers"] != running:
        return f"true, or -e servers={running}: every partition needs a server host"
    return None


def _pattern(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if popularity.is_played(parameters) and rotates(parameters):
        return "none, or -e rotation=false: the partition of any next hot key has to run"
    return None


def _hot_list(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if not popularity.is_played(parameters):
        return None
    least = max(parameters["cache_size"], parameters.get("keys_changed", popularity.KEYS_CHANGED))
    if parameters.get("hot_list", popularity.HOT_LIST) < least:
        return f"at least {least:,}: the cached keys, and the keys_changed, are of this list"
    return None


def _trace(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if not recorded.is_recorded(parameters):
        return None
    if ycsb.drives(parameters):
        return "none beside -e client=ycsb, which makes its requests itself: -e client=kvclient"
    if not Path(parameters["trace"]).is_file():
        return (
            "a file with recorded requests, at the same path on the controller, server hosts and "
            "client hosts (docs/workloads.md, Recorded traces)"
        )
    return None


def _client(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if not ycsb.drives(parameters):
        return None
    if parameters["workload"] not in ycsb.WORKLOADS:
        return f"kvclient, or -e workload={'|'.join(ycsb.WORKLOADS)}"
    if crash_of(parameters) or rotates(parameters):
        return "kvclient, or -e rotation=false -e crash=none: YCSB asks for all keys, and has ended"
    if offered.is_open(parameters):
        return "kvclient: YCSB's threads are closed loops"
    return None


def _theta(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if ycsb.drives(parameters) and parameters["theta"] != ycsb.STOCK_THETA:
        return f"{ycsb.STOCK_THETA}: YCSB has no other"
    return None


def _value_bytes(parameters: Mapping[str, Any], testbed: Testbed) -> str | None:
    if "record" in parameters:
        needed = ycsb.value_bytes(parameters["record"])
        if needed > ycsb.MOST_VALUE_BYTES:
            return f"at most {ycsb.MOST_VALUE_BYTES:,}, but such records take {needed:,}"
        if parameters["value_bytes"] != needed:
            return f"{needed}: what such a record takes"
    return "what -e record says" if ycsb.drives(parameters) and "record" not in parameters else None


CHECKS = (
    Check("trace", _trace),
    Check("clients", _clients),
    Check("cache_size", _cache_size, beside=("records",)),
    Check("operations", _operations, beside=("clients",)),
    Check("warmup_s", _warmup, beside=("clients", "capacity_ops_per_s", "target_share")),
    Check("target_ops_per_s", _targets, beside=("target_share",)),
    Check("pattern", _target_pattern, beside=("target_share", "target_ops_per_s")),
    Check("target_share", _maximum, beside=("capacity_ops_per_s", "maximum_ops_per_s")),
    Check("switch_processing_delay_ns", _delay),
    Check("crash", _crash, beside=("method",)),
    Check("client_copies", _client_copies, beside=("crash",)),
    Check("client", _client, beside=("workload", "crash", "rotation")),
    Check("theta", _theta, beside=("client",)),
    Check("value_bytes", _value_bytes, beside=("record",)),
    Check("rotation", _rotation, beside=("servers",)),
    Check("pattern", _pattern, beside=("rotation",)),
    Check("hot_list", _hot_list, beside=("cache_size", "keys_changed")),
    Check("snapshot_period_s", _snapshot_period, beside=("measure_s", "warmup_s")),
)
