"""Rates and windows that follow from a cell's parameters.

`load` is the share of what all slots can do together, 1 for servers that are always busy without
any clone. On a dilated testbed everything takes `dilation` times as long: rates of the nodes are so
much lower, and the load is the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from turntable_systems.netclone import service

# The window is so many standard deviations longer than the mean time of so many requests.
_DEVIATIONS = 5
# The artifact's client draws gaps of -ln(1 - u) ms, u uniform in [0, this / its rate).
_LEGACY_END_RPS = 2000


def slots(parameters: Mapping[str, Any]) -> list[int]:
    """Of each server."""
    text = parameters.get("unequal_workers")
    if text:
        return [int(part) for part in text.split("+")]
    return [parameters["workers"]] * parameters["servers"]


def capacity_rps(parameters: Mapping[str, Any]) -> float:
    """Requests per second of all servers together, undilated."""
    return sum(slots(parameters)) * 1e6 / service.mean_us(parameters)


def offered_rps(parameters: Mapping[str, Any]) -> float:
    """Undilated, as the paper's axes have it."""
    target = parameters.get("target_rps", 0)
    return target or parameters["load"] * capacity_rps(parameters)


def load(parameters: Mapping[str, Any]) -> float:
    return offered_rps(parameters) / capacity_rps(parameters)


def sent_rps(parameters: Mapping[str, Any]) -> float:
    """What all clients together send, on the clock of the testbed."""
    return offered_rps(parameters) / parameters["dilation"]


def arrivals(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The process, as clients and simulation are told it."""
    process = parameters["arrivals"]
    # The artifact's is biased by a rate in requests/s: it has to know which one is meant.
    dilation = {"dilation": parameters["dilation"]} if process == "legacy" else {}
    return {"process": process} | dilation


def arriving_rps(parameters: Mapping[str, Any]) -> float:
    """What comes of sent_rps(): of the artifact's process, less (src/load/arrivals.cc)."""
    if parameters["arrivals"] != "legacy":
        return sent_rps(parameters)
    end = _LEGACY_END_RPS * parameters["clients"] / offered_rps(parameters)
    mean_ms = 1.0 if end >= 1 else ((1 - end) * math.log1p(-end) + end) / end  # of -ln(1 - u)
    return parameters["clients"] * 1e3 / mean_ms / parameters["dilation"]


def measure_s(parameters: Mapping[str, Any]) -> float:
    """At least `measure_s`, and long enough for `requests`; in steps of a tenth. No process has
    gaps that vary more than those of the exponential one.
    """
    requests = parameters["requests"]
    enough = (requests + _DEVIATIONS * math.sqrt(requests)) / arriving_rps(parameters)
    return max(parameters["measure_s"], math.ceil(enough * 10) / 10)
