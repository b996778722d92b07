"""What the traces of a turn promise, before anything is measured (docs/workloads.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turntable_systems.farreach import popularity
from turntable_systems.farreach.popularity import Popularity


@dataclass(frozen=True)
class Composition:
    """How requests fall onto partitions: shares sum to 1 (less the share a cache absorbs)."""

    shares: tuple[float, ...]
    normalized: float | None  # None where no server, or some server, has nothing to do
    imbalance: float | None


@dataclass(frozen=True)
class WriteThrough:
    """What a model of a write-through cache says (docs/workloads.md §6): the rates of every
    placement of the rotation, in units of a server's capacity, for one duration of value updates.
    """

    update_round_trip: float  # u c
    # Per iteration: bottleneck by switch and server, rotated partition by switch and server.
    placements: tuple[tuple[float, float, float, float], ...]
    # Per iteration, from one piece of the traces to another: standard deviation of the share that
    # the switch answers, and of the rotated partition's share at the servers. Old plans have none.
    deviations: tuple[tuple[float, float], ...] = ()


def write_through(document: Mapping[str, Any]) -> WriteThrough:
    return WriteThrough(
        document["update_round_trip"],
        tuple(map(tuple, document["placements"])),
        tuple(map(tuple, document.get("deviations", ()))),
    )


@dataclass(frozen=True)
class Prediction:
    """What the workload analyzer says about one turn."""

    bottleneck: int  # the busiest partition of the round's own trace
    infinite: Composition  # of the distribution itself
    trace: Composition  # of the finite, seeded traces that the clients replay
    keys: tuple[int, ...] = ()  # distinct ones in the traces, by partition
    requests: tuple[float, ...] = ()  # shares of the traces' requests, cached or not, by partition
    write_through: tuple[WriteThrough, ...] = ()  # ascending; of methods whose writes need updates
    cached_normalized: float | None = None  # of the traces, were all cached keys the switch's alone
    popularity: Popularity | None = None  # where it may change
    recorded: Mapping[str, Any] | None = None  # of a recorded trace: what is in it

    @property
    def is_unknown(self) -> bool:
        """There are no traces: of results that were measured elsewhere."""
        return not self.trace.shares


def unknown(bottleneck: int) -> Prediction:
    nothing = Composition((), None, None)
    return Prediction(bottleneck, nothing, nothing)


def from_json(document: Mapping[str, Any]) -> Prediction:
    infinite, trace = (
        Composition(
            tuple(document[kind]["shares"]),
            document[kind]["normalized"],
            document[kind]["imbalance"],
        )
        for kind in ("infinite", "trace")
    )
    return Prediction(
        document["bottleneck"],
        infinite,
        trace,
        tuple(document.get("keys", ())),
        tuple(document.get("requests", ())),
        tuple(map(write_through, document.get("write_through", ()))),
        document.get("cached_normalized"),
        popularity.read(document.get("popularity")),
        document.get("recorded"),
    )
