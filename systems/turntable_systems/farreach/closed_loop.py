"""How closed loops begin, and how long it takes until they are steady."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def settling_s(parameters: Mapping[str, Any]) -> float:
    """How long a closed loop takes to be steady after its last client has begun.

    The time in which one server answers every client twice; 0 when servers have no limit.
    """
    capacity = parameters["capacity_ops_per_s"]
    return 2 * parameters["clients"] / capacity if capacity else 0.0


def ramp_s(parameters: Mapping[str, Any]) -> float:
    """Over which the clients begin, one after the other: a share of what the warm-up has beyond
    settling. 0: all at once, as in plans of older versions.
    """
    free_s = max(0.0, parameters["warmup_s"] - settling_s(parameters))
    return parameters.get("ramp_share", 0) * free_s


def latest_start_s(parameters: Mapping[str, Any]) -> float:
    """The lateness after which too little of the warm-up is left for the loop to settle."""
    return parameters["warmup_s"] - ramp_s(parameters) - settling_s(parameters)
