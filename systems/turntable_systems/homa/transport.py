"""What nodes and simulation are told of a cell's transport."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_systems.homa import links, methods
from turntable_systems.homa.prediction import Prediction
from turntable_systems.homa.sizes import PAPER

Parameters = Mapping[str, Any]


def priorities(parameters: Parameters) -> dict[str, Any]:
    """Of homa-sim, which knows the rule and the paper's table, and tells what they make."""
    if methods.is_tcp(parameters):
        return {"levels": methods.MOST_LEVELS}
    said: dict[str, Any] = {"levels": methods.levels(parameters)}
    if not methods.is_homa(parameters):
        return said
    paper = parameters["sizes"] if parameters["sizes"] in PAPER else None
    if paper:
        said["paper" if parameters["priorities"] == "paper" else "paper_degree"] = paper
    if parameters["cutoffs"]:
        said["cutoffs"] = [int(part) for part in parameters["cutoffs"].split("+")]
    if parameters["degree"]:
        said["degree"] = parameters["degree"]
    return said


def common(parameters: Parameters) -> dict[str, Any]:
    """That nodes and simulation call the same."""
    return {
        "payload_bytes": parameters["payload_bytes"],
        "rtt_bytes": links.rtt_bytes(parameters),
        "at_most_once": parameters["at_most_once"],
        "queue_ahead_us": parameters["queue_ahead_us"],
    }


def of_nodes(parameters: Parameters, derived: Prediction, *, emulated: bool) -> dict[str, Any]:
    """`transport` of their command `prepare`. emulated: hosts make their links' rates; a rack's
    interfaces have them, and Homa paces its packets there all the same.
    """
    if methods.is_tcp(parameters):
        return {
            "kind": methods.kind(parameters),
            "connections": parameters["connections"],
            **(_of_links(parameters) if emulated else {}),
        }
    return {
        **common(parameters),
        **_of_links(parameters),
        "tick_ms": parameters["tick_ms"],
        "kind": methods.kind(parameters),
        "levels": methods.levels(parameters),
        "unscheduled_levels": derived.unscheduled_levels,
        "cutoffs": list(derived.cutoffs),
        "degree": derived.degree,
    }


def of_baseline(parameters: Parameters) -> dict[str, Any]:
    """Homa's on the idle network, where nothing has to wait for anything: the one denominator of
    all transports' slowdowns.
    """
    return {
        **common(parameters),
        **_of_links(parameters),
        "tick_ms": parameters["tick_ms"],
        "kind": "homa",
        "levels": 1,
    }


def _of_links(parameters: Parameters) -> dict[str, Any]:
    return {
        "link_bps": links.bits_per_s(parameters),
        "link_overhead_bytes": links.OVERHEAD,
    }
