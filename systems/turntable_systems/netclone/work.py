"""What servers do and how requests reach them, as nodes, replay and simulation are told it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_systems.netclone import methods, offered_load, service

_GIVE_UP_MS = 10_000
_LONGEST_SERVICES = 1000  # mean ones: with jitter a copy takes some 70, or 15 times an exponential
_DAY_MS = 86_400_000


def of_servers(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Of every server's copies."""
    return {
        "dilation": parameters["dilation"],
        "service": service.spec_of(parameters),
        "jitter": service.jitter_of(parameters),
        "drop_clones": methods.by_switch(parameters),
    }


def of_cell(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Of the whole cell: what a simulation needs beside the arrivals."""
    return of_servers(parameters) | {
        "workers": offered_load.slots(parameters),
        "filter": methods.filters(parameters),
        "laedge": parameters.get("laedge_mode", "slots"),
        "mix": service.mix_of(parameters),
    }


def give_up_ms(parameters: Mapping[str, Any]) -> int:
    """After which a copy without an answer is lost: 10 s, or longer than any service takes."""
    mean_ms = service.mean_us(parameters) * parameters["dilation"] / 1e3
    return min(_DAY_MS, max(_GIVE_UP_MS, round(_LONGEST_SERVICES * mean_ms)))


def seed_of(parameters: Mapping[str, Any], round_: int) -> int:
    """Rounds differ."""
    return parameters["seed"] + round_
