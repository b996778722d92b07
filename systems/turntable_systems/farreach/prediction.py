"""What the traces of a turn promise, before anything is measured (docs/workloads.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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


@dataclass(frozen=True)
class Prediction:
    """What the workload analyzer says about one turn."""

    bottleneck: int  # the busiest partition of the round's own trace
    infinite: Composition  # of the distribution itself
    trace: Composition  # of the finite, seeded traces that the clients replay
    keys: tuple[int, ...] = ()  # distinct ones in the traces, by partition
    requests: tuple[float, ...] = ()  # shares of the traces' requests, cached or not, by partition
    write_through: tuple[WriteThrough, ...] = ()  # ascending; of methods whose writes need updates


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
        tuple(
            WriteThrough(part["update_round_trip"], tuple(map(tuple, part["placements"])))
            for part in document.get("write_through", ())
        ),
    )
