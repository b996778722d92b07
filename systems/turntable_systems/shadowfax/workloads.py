"""Workloads, as the original has them: the operation of each request is drawn by itself.

Its YCSB-F is additions alone, called rmw here; f is YCSB's own. An addition reads a value, adds 1
to it and stores the sum. D's keys have the distribution of the others, not YCSB's latest one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Mix = Mapping[str, float]  # operation -> its share of the requests

MIXES: Mapping[str, Mix] = {
    "rmw": {"read": 0, "upsert": 0, "add": 1},
    "a": {"read": 0.5, "upsert": 0.5, "add": 0},
    "b": {"read": 0.95, "upsert": 0.05, "add": 0},
    "c": {"read": 1, "upsert": 0, "add": 0},
    "d": {"read": 0.95, "upsert": 0.05, "add": 0},
    "f": {"read": 0.5, "upsert": 0, "add": 0.5},
}

ZIPFIAN = "zipfian"
SPLITS = "splits"  # a range check
_OF_CLUSTERS = frozenset({"owners", "checkpoint_s", "move_share", "sample_s", "indirection"})
_UNIFORM_THETA = 0  # of Zipf's law where all keys are equally popular


def mix(parameters: Mapping[str, Any]) -> Mix:
    return MIXES[parameters["workload"]]


def writes(parameters: Mapping[str, Any]) -> bool:
    return mix(parameters)["read"] < 1


def keeps_sums(parameters: Mapping[str, Any]) -> bool:
    """Whether the values of all keys add up to the additions: no upsert replaces any."""
    return mix(parameters)["upsert"] == 0


def theta(parameters: Mapping[str, Any]) -> float:
    """The Zipfian constant of the keys' popularity."""
    return parameters["theta"] if parameters["distribution"] == ZIPFIAN else _UNIFORM_THETA


def meaningless(parameters: Mapping[str, Any]) -> frozenset[str]:
    """Names of parameters that say nothing about such a cell."""
    uniform = parameters.get("distribution") != ZIPFIAN
    found = {"theta"} if uniform else set()
    if parameters.get("range_check") != SPLITS:
        found.add("splits")
    return frozenset(found if parameters.get("cluster") else found | _OF_CLUSTERS)
