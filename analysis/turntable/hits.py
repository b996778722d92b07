"""The share of requests that the switch should answer, from the traces and the cached set.

Normalized throughput and utilization look the same whether the switch answers or not: the servers
run at their capacity in either case. So this is checked by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from turntable.measurement import Measurement
from turntable.write_through import expected_placements, update_round_trip_s
from turntable_core.methods import WRITE_THROUGH
from turntable_core.plan import Prediction


@dataclass(frozen=True)
class HitShare:
    """Of the operations of one iteration's window."""

    iteration: int
    measured: float
    expected: float
    operations: int

    @property
    def standard_error(self) -> float:
        """Of a window's piece of the traces; at least one operation."""
        variance = self.expected * (1 - self.expected)
        return sqrt(max(variance, 1 / self.operations) / self.operations)

    @property
    def errors(self) -> float:
        """Distance in standard errors."""
        return abs(self.measured - self.expected) / self.standard_error


def hit_shares(
    measurements: Sequence[Measurement], prediction: Prediction, parameters: Mapping[str, Any]
) -> list[HitShare] | None:
    """None: nothing says what they should be (a plan of an older version; servers without a
    capacity, whose write-through cache has no model).
    """
    expected = _expected(measurements, prediction, parameters)
    if expected is None:
        return None
    shares = []
    for measurement in measurements:
        clients = measurement.clients.values()
        by_switch = sum(client.switch_ops for client in clients)
        operations = by_switch + sum(client.server_ops for client in clients)
        if operations:
            share = expected[measurement.iteration]
            shares.append(
                HitShare(measurement.iteration, by_switch / operations, share, operations)
            )
    return shares


def _expected(
    measurements: Sequence[Measurement], prediction: Prediction, parameters: Mapping[str, Any]
) -> dict[int, float] | None:
    """By iteration."""
    written = update_round_trip_s(measurements) is not None
    if parameters["method"] in WRITE_THROUGH and written:
        capacity = parameters["capacity_ops_per_s"]
        placements = expected_placements(prediction, measurements, capacity)
        if placements is None:
            return None
        rates = [
            [part for part in (placement.bottleneck, placement.rotated) if part is not None]
            for placement in placements
        ]
        return {
            index: sum(part.switch for part in both) / sum(part.total for part in both)
            for index, both in enumerate(rates)
        }
    if not prediction.requests:
        return None
    return {
        measurement.iteration: 1
        - sum(prediction.trace.shares[partition] for partition in measurement.partitions)
        / sum(prediction.requests[partition] for partition in measurement.partitions)
        for measurement in measurements
    }
