"""A write-through cache whose written slots wait for their servers (docs/workloads.md §6).

The plan has what a model made of the very traces for some durations u of value updates; what it
says of the u that was measured lies between two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.rotation import Aggregate, Placement, Rates, aggregate
from turntable_systems.farreach.prediction import Prediction, WriteThrough
from turntable_systems.farreach.rotation import rotation


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
    parts = prediction.write_through
    round_trip = (update_round_trip_s(measurements) or 0.0) * capacity_ops_per_s
    for low, high in pairwise(parts):
        if low.update_round_trip <= round_trip <= high.update_round_trip:
            span = high.update_round_trip - low.update_round_trip
            share = (round_trip - low.update_round_trip) / span
            return _between(prediction, low, high, share)
    return None


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
            aggregate(prediction.bottleneck, _between(prediction, part, part, 0.0)),
        )
        for part in prediction.write_through
    ]


def _between(
    prediction: Prediction, low: WriteThrough, high: WriteThrough, share: float
) -> list[Placement]:
    pairs = rotation(len(prediction.trace.shares), prediction.bottleneck)
    placements = []
    for pair, *both in zip(pairs, low.placements, high.placements, strict=True):
        rates = [a + share * (b - a) for a, b in zip(*both, strict=True)]
        rotated = None if pair.rotated is None else Rates(*rates[2:])
        placements.append(Placement(Rates(*rates[:2]), pair.rotated, rotated))
    return placements
