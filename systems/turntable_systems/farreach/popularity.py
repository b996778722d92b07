"""Workloads whose hot keys change while they are measured (docs/workloads.md §8).

An experiment's timeline says when: `{at_s: 11, popularity: 1}` begins period 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_core.timeline import Event
from turntable_systems.farreach import hosts

VERB = "popularity"
STABLE = "stable"
CHANGES = 7  # for which keys are chosen: those of the paper
HOT_LIST, KEYS_CHANGED = 10_000, 200  # as in the paper, where an experiment does not say it


@dataclass(frozen=True)
class Period:
    """Shares of all requests, by partition, by the traces' own counts."""

    requests: tuple[float, ...]
    kept: tuple[float, ...]  # the switch answers so many, while it has the keys of before
    cached: tuple[float, ...]  # ... once it has those of this period

    def normalized(self, *, adapted: bool) -> float | None:
        busiest = max(self.at_servers(adapted=adapted))
        return 1 / busiest if busiest > 0 else None

    def imbalance(self, *, adapted: bool) -> float | None:
        at_servers = self.at_servers(adapted=adapted)
        return max(at_servers) / min(at_servers) if min(at_servers) > 0 else None

    def at_servers(self, *, adapted: bool) -> list[float]:
        hits = self.cached if adapted else self.kept
        return [all_ - hit for all_, hit in zip(self.requests, hits, strict=True)]

    def hit_share(self, *, adapted: bool) -> float:
        return sum(self.cached if adapted else self.kept)


@dataclass(frozen=True)
class Popularity:
    """What the analyzer says of a turn whose hot keys change."""

    plan: Mapping[str, Any]  # for kvclient: pattern, hot_list, changes
    periods: tuple[Period, ...]  # from 0 on, before any change


def read(document: Mapping[str, Any] | None) -> Popularity | None:
    """From a plan."""
    if not document:
        return None
    periods = (
        Period(*(tuple(part[name]) for name in ("requests", "kept", "cached")))
        for part in document["periods"]
    )
    return Popularity(document["plan"], tuple(periods))


def is_played(parameters: Mapping[str, Any]) -> bool:
    """Whether clients are told how popularity changes; `stable`: not at all."""
    return "pattern" in parameters


def changes(parameters: Mapping[str, Any]) -> bool:
    return parameters.get("pattern", STABLE) != STABLE


def options(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Of workload-analyze."""
    if not is_played(parameters):
        return {}
    return {
        "--popularity": parameters["pattern"],
        "--hot-list": min(parameters.get("hot_list", HOT_LIST), parameters["records"]),
        "--keys-changed": parameters.get("keys_changed", KEYS_CHANGED),
        "--changes": CHANGES,
    }


def from_analyzer(document: Mapping[str, Any], absorbed: float) -> Popularity | None:
    """absorbed: share of the requests for cached keys that the switch answers."""
    plan = document.get("popularity")
    if plan is None:
        return None
    periods = (
        Period(
            tuple(part["shares"]),
            tuple(absorbed * share for share in part["kept"]),
            tuple(absorbed * share for share in part["cached"]),
        )
        for part in document["scales"][0]["trace"]["periods"]
    )
    return Popularity(plan, tuple(periods))


def begin_period(value: Any, context: Context) -> Batches:
    """The verb: all client hosts at the same instant."""
    request = Request("kvclient", "popularity", {"period": value})
    return {host.name: [request] for host in hosts.clients(context.testbed)}


def fault(event: Event) -> str | None:
    """What was expected of an event's value."""
    value = event.value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= CHANGES:
        return None
    return f"a period: 0 (the first hot keys) to {CHANGES}"
