"""What tells the compared methods apart, as far as the run needs to know."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

RACKSCHED = "netclone-racksched"
BY_SWITCH = ("netclone", RACKSCHED)  # the switch chooses servers, and clones
LAEDGE = "laedge"  # a coordinator does

_OF_SWITCH = frozenset({"filter"})
_OF_LAEDGE = frozenset({"laedge_mode"})
_OF_REDIS = frozenset({"scan_share", "objects", "theta"})


def by_switch(parameters: Mapping[str, Any]) -> bool:
    return parameters["method"] in BY_SWITCH


def racksched(parameters: Mapping[str, Any]) -> bool:
    """Whether a request that is not cloned goes to the shorter of two queues."""
    return parameters["method"] == RACKSCHED


def filters(parameters: Mapping[str, Any]) -> bool:
    """Whether the switch drops the slower answer of a pair."""
    return by_switch(parameters) and parameters["filter"]


def meaningless(parameters: Mapping[str, Any]) -> Collection[str]:
    """Names of parameters that say nothing about such a cell."""
    method = parameters.get("method")
    of_others = frozenset() if method in BY_SWITCH else _OF_SWITCH
    if method != LAEDGE:
        of_others |= _OF_LAEDGE
    if "redis" not in (parameters.get("mode"), parameters.get("distribution")):
        of_others |= _OF_REDIS
    return of_others | {"load" if parameters.get("target_rps") else "target_rps"}
