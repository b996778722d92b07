"""What the traces promise of every iteration, where popularity does not change during the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.rotation import Rates
from turntable.systems.farreach.write_through import expected_placements, update_round_trip_s
from turntable_systems.farreach.methods import WRITE_THROUGH, caches
from turntable_systems.farreach.prediction import Prediction
from turntable_systems.farreach.workload import is_like_its_window


class NoPromiseError(Exception):
    """Nothing says what a share should be; the text says why."""


@dataclass(frozen=True)
class Share:
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


def expected_rates(
    measurements: Sequence[Measurement], prediction: Prediction, parameters: Mapping[str, Any]
) -> dict[int, list[Rates]]:
    """By iteration: of the bottleneck, and of the rotated partition if there is one. Only their
    proportions mean something. Raises NoPromiseError.
    """
    cached = caches(parameters)
    if not is_like_its_window(parameters["workload"], cached=cached):
        raise NoPromiseError("the workload's window is unlike its whole trace")
    if cached and not _is_static(parameters):
        raise NoPromiseError("cached keys change, or are filled by the first requests")
    if is_modelled(measurements, parameters):
        capacity = parameters["capacity_ops_per_s"]
        placements = expected_placements(prediction, measurements, capacity)
        if placements is None:
            raise NoPromiseError("there is no model of value updates that take so long")
        rates = {
            index: [part for part in (placement.bottleneck, placement.rotated) if part is not None]
            for index, placement in enumerate(placements)
        }
        return {measurement.iteration: rates[measurement.iteration] for measurement in measurements}
    if not prediction.requests:
        raise NoPromiseError("the plan is of an older version and has no shares of the traces")
    return {
        measurement.iteration: [
            _from_shares(prediction, partition) for partition in measurement.partitions
        ]
        for measurement in measurements
    }


def is_modelled(measurements: Sequence[Measurement], parameters: Mapping[str, Any]) -> bool:
    """Whether only the model of a write-through cache (docs/workloads.md §6) can say it."""
    return parameters["method"] in WRITE_THROUGH and update_round_trip_s(measurements) is not None


def _is_static(parameters: Mapping[str, Any]) -> bool:
    return parameters.get("cache_prefill", True) and not parameters.get("admission", False)


def _from_shares(prediction: Prediction, partition: int) -> Rates:
    at_server = prediction.trace.shares[partition]
    return Rates(prediction.requests[partition] - at_server, at_server)
