"""Parameters that say nothing about a cell, where others decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_systems.swan import placement, server

FRESH_BLOCK, FRESH_ITERATION = "block", "iteration"


def meaningless(parameters: Mapping[str, Any]) -> frozenset[str]:
    names: set[str] = set()
    if parameters.get("layout") != placement.MANUAL:
        names.update(placement.RANGES)
    if parameters.get("transport") == server.UNIX:
        names.add("memcached_port")
    if parameters.get("loads"):
        names.add("load_points")
    if parameters.get("peak_load"):
        names.update(("tune_s", "tune_repeats"))
    return frozenset(names)
