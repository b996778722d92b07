"""Requests that measure the way through the switch to a server and back: before the load of an open
loop begins, one at a time, so far apart that none waits for another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.context import seconds_to_ns

_MARGIN_S = 0.001  # of the way, the longest that is expected on an idle testbed


def spacing_s(parameters: Mapping[str, Any]) -> float:
    """Between two of them: twice what one takes, and the margin."""
    capacity = parameters["capacity_ops_per_s"]
    return (2 / capacity if capacity else 0.0) + _MARGIN_S


def length_s(parameters: Mapping[str, Any], machines: int) -> float:
    """Of the part of the warm-up in which they are sent; every client machine sends `path_probes`
    of them, in turn with the others.
    """
    return parameters.get("path_probes", 0) * machines * spacing_s(parameters)


def of_machine(parameters: Mapping[str, Any], machine: int, machines: int) -> dict[str, int]:
    """Arguments of kvclient's `open_loop`."""
    probes = parameters.get("path_probes", 0)
    load = {"load_offset_ns": seconds_to_ns(length_s(parameters, machines))}
    if probes == 0:
        return load
    spacing = spacing_s(parameters)
    return load | {
        "probes": probes,
        "probe_offset_ns": seconds_to_ns(machine * spacing),
        "probe_period_ns": seconds_to_ns(machines * spacing),
    }
