"""What tells the compared methods apart, as far as the run needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WRITE_BACK = ("farreach",)  # the switch answers reads and writes of cached keys
WRITE_THROUGH = ("netcache",)  # ... reads only
EVERY = (*WRITE_BACK, *WRITE_THROUGH, "nocache")
CACHEABLE_BYTES = 128  # of a value, at most: what a slot of the switch holds


# Parameters of one kind of method only.
_OF_WRITE_THROUGH = frozenset({"value_update_delay_us"})
_OF_WRITE_BACK = frozenset({"client_copies", "snapshot_period_s"})


def meaningless(method: str) -> frozenset[str]:
    """Names of parameters that say nothing about the method."""
    of_others = frozenset() if method in WRITE_THROUGH else _OF_WRITE_THROUGH
    return of_others if method in WRITE_BACK else of_others | _OF_WRITE_BACK


def compared(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What cells of different methods must have in common to be compared."""
    apart = {"method"}.union(*map(meaningless, EVERY))
    return {name: value for name, value in parameters.items() if name not in apart}


def keeps_copies(parameters: Mapping[str, Any]) -> bool:
    """Whether clients keep copies of what the switch alone has. Plans of before had none."""
    return parameters["method"] in WRITE_BACK and parameters.get("client_copies", False)


def snapshot_period_s(parameters: Mapping[str, Any]) -> float:
    """Between two snapshots of switch and servers, from the clients' start on; 0: none."""
    return parameters.get("snapshot_period_s", 0) if parameters["method"] in WRITE_BACK else 0


def answers_everything(parameters: Mapping[str, Any]) -> bool:
    """Whether the switch needs no server: it caches all keys, and is asked as fast as it can."""
    return (
        parameters["method"] in WRITE_BACK
        and parameters["capacity_ops_per_s"] == 0
        and parameters["cache_size"] >= parameters["records"]
    )


def crash_of(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Components whose nodes are killed after each iteration's measurement."""
    return {
        "none": (),
        "switch": ("switch",),
        "switch_and_servers": ("switch", "kvserver"),
    }[parameters.get("crash", "none")]


def caches(parameters: Mapping[str, Any]) -> bool:
    """Whether the switch of a cell answers requests: switch-agent and cache-controller run."""
    return parameters["method"] in WRITE_BACK + WRITE_THROUGH


def fits_a_slot(parameters: Mapping[str, Any]) -> bool:
    """Whether the switch can have values: larger ones are always their server's to answer."""
    return parameters["value_bytes"] <= CACHEABLE_BYTES
