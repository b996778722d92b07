"""A write-through cache whose written slots wait for their servers (docs/workloads.md §6).

The plan has what a model made of the very traces for some durations u of value updates; what it
says of the u that was measured lies between two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.rotation import Aggregate, Placement, Rates, aggregate
from turntable_systems.farreach.prediction import Prediction, WriteThrough
from turntable_systems.farreach.rotation import rotation


@dataclass(frozen=True)
class Deviations:
    """Of one placement's shares, from one piece of the traces to another."""

    hits: float  # what the switch answers of all
    rotated: float  # what the rotated partition's server answers of both servers'


def update_round_trip_s(measurements: Sequence[Measurement]) -> float | None:
    """u: from the end of a write to the acknowledgement of its update, mean; None: no updates."""
    servers = [server for measurement in measurements for server in measurement.servers]
    acknowledged = sum(server.updates_acknowledged for server in servers)
    if acknowledged == 0:
        return None
    return sum(server.update_round_trips_s for server in servers) / acknowledged


def expected_placements(
    prediction: Prediction, measurements: Sequence[Measurement], capacity_ops_per_s: float
) -> list[Placement] | None:
    """What the model says of every iteration, in units of a server's capacity.

    None: there is no model, or it was not asked about so long an update.
    """
    around = _around(prediction, measurements, capacity_ops_per_s)
    if around is None:
        return None
    low, high, share = around
    return _placements(prediction, _between(low.placements, high.placements, share))


def expected_deviations(prediction: Prediction) -> list[Deviations] | None:
    """How far the model's own replays are apart, of every iteration; None: not known.

    The most of any u. Where a placement has one way to go on, its spread is nearly that of all u;
    where it has two, which one it takes depends on what the model does not have, too: on stalls,
    and on the network's time. The replays of other u show then how far apart the two are.
    """
    rows = [part.deviations for part in prediction.write_through if part.deviations]
    return [
        Deviations(*(max(values) for values in zip(*placement, strict=True)))
        for placement in zip(*rows, strict=True)
    ] or None


def expected_aggregate(
    prediction: Prediction, measurements: Sequence[Measurement], capacity_ops_per_s: float
) -> Aggregate | None:
    """The rotation as the model has it; None also where nothing is written to cached keys."""
    if update_round_trip_s(measurements) is None:
        return None
    placements = expected_placements(prediction, measurements, capacity_ops_per_s)
    return None if placements is None else aggregate(prediction.bottleneck, placements)


def model_curve(prediction: Prediction) -> list[tuple[float, Aggregate]]:
    """By u c, ascending: everything that the plan's model was asked."""
    return [
        (
            part.update_round_trip,
            aggregate(prediction.bottleneck, _placements(prediction, part.placements)),
        )
        for part in prediction.write_through
    ]


def _around(
    prediction: Prediction, measurements: Sequence[Measurement], capacity_ops_per_s: float
) -> tuple[WriteThrough, WriteThrough, float] | None:
    """The two u around the measured one that the model was asked about, and the way between."""
    round_trip = (update_round_trip_s(measurements) or 0.0) * capacity_ops_per_s
    for low, high in pairwise(prediction.write_through):
        if low.update_round_trip <= round_trip <= high.update_round_trip:
            span = high.update_round_trip - low.update_round_trip
            return low, high, (round_trip - low.update_round_trip) / span
    return None


def _between(
    low: Sequence[Sequence[float]], high: Sequence[Sequence[float]], share: float
) -> list[list[float]]:
    both = zip(low, high, strict=True)
    return [[a + share * (b - a) for a, b in zip(*rows, strict=True)] for rows in both]


def _placements(prediction: Prediction, rows: Sequence[Sequence[float]]) -> list[Placement]:
    placements = []
    pairs = rotation(len(prediction.trace.shares), prediction.bottleneck)
    for pair, row in zip(pairs, rows, strict=True):
        rotated = None if pair.rotated is None else Rates(*row[2:])
        placements.append(Placement(Rates(*row[:2]), pair.rotated, rotated))
    return placements
