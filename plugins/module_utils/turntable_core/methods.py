"""What tells the compared methods apart, as far as the run needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WRITE_BACK = ("farreach",)  # the switch answers reads and writes of cached keys
WRITE_THROUGH = ("netcache",)  # ... reads only


# Parameters of one kind of method only.
_OF_WRITE_THROUGH = frozenset({"value_update_delay_us"})


def meaningless(method: str) -> frozenset[str]:
    """Names of parameters that say nothing about the method."""
    return frozenset() if method in WRITE_THROUGH else _OF_WRITE_THROUGH


def crash_of(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Which nodes are killed after each iteration's measurement, by program."""
    return {
        "none": (),
        "switch": ("softswitch",),
        "switch_and_servers": ("softswitch", "kvserver"),
    }[parameters.get("crash", "none")]


def caches(parameters: Mapping[str, Any]) -> bool:
    """Whether the switch of a cell answers requests: switch-agent and cache-controller run."""
    return parameters["method"] in WRITE_BACK + WRITE_THROUGH
