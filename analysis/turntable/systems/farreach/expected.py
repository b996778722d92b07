"""What the traces promise of every iteration, where popularity does not change during the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.rotation import Rates
from turntable.systems.farreach.state import SATURATED, state_of
from turntable.systems.farreach.write_through import (
    Deviations,
    expected_deviations,
    expected_placements,
    update_round_trip_s,
)
from turntable_systems.farreach import popularity
from turntable_systems.farreach.methods import WRITE_THROUGH, caches
from turntable_systems.farreach.offered import is_open, target_ops_per_s
from turntable_systems.farreach.prediction import Prediction
from turntable_systems.farreach.workload import is_like_its_window

# A recorded trace may be unlike itself from one place to the next: of so many repetitions, what is
# cut off at both ends of a window is little.
_OFTEN = 5


class NoPromiseError(Exception):
    """Nothing says what a share should be; the text says why."""


@dataclass(frozen=True)
class Share:
    """Of the operations of one iteration's window."""

    iteration: int
    measured: float
    expected: float
    operations: int
    deviation: float = 0.0  # of a model, from one piece of the traces to another

    @property
    def standard_error(self) -> float:
        """Of a window's piece of the traces; at least one operation."""
        variance = self.expected * (1 - self.expected)
        drawn = sqrt(max(variance, 1 / self.operations) / self.operations)
        return max(drawn, self.deviation)

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
    if popularity.changes(parameters):
        raise NoPromiseError("popularity changes")
    if state_of(measurements, parameters) == SATURATED:
        raise NoPromiseError("more was offered than the servers can answer")
    cached = caches(parameters)
    if not is_like_its_window(parameters["workload"], cached=cached):
        raise NoPromiseError("the workload's window is unlike its whole trace")
    if prediction.recorded is not None and not _is_replayed_often(prediction, parameters):
        raise NoPromiseError(f"a window has the recorded trace less than {_OFTEN} times")
    if cached and not _is_static(parameters):
        raise NoPromiseError("cached keys change, or are filled by the first requests")
    if is_modelled(measurements, parameters):
        if is_open(parameters):
            raise NoPromiseError("the model of value updates is of closed loops")
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


def model_deviations(
    measurements: Sequence[Measurement], prediction: Prediction, parameters: Mapping[str, Any]
) -> list[Deviations] | None:
    """By iteration; None: what is expected is no model's."""
    if not is_modelled(measurements, parameters):
        return None
    return expected_deviations(prediction)


def _is_replayed_often(prediction: Prediction, parameters: Mapping[str, Any]) -> bool:
    """Whether a window of any iteration has the requests of a recorded trace so often that it does
    not matter with which of them it begins and ends.
    """
    if is_open(parameters):
        capacity, busiest = target_ops_per_s(parameters, prediction), 1.0
    else:
        is_slowed = parameters["method"] in WRITE_THROUGH  # by its value updates
        shares = prediction.requests if is_slowed else prediction.trace.shares
        capacity, busiest = parameters["capacity_ops_per_s"], max(shares)
    window = capacity * parameters["measure_s"]
    return _OFTEN * prediction.recorded["requests"] * busiest <= window


def is_modelled(measurements: Sequence[Measurement], parameters: Mapping[str, Any]) -> bool:
    """Whether only the model of a write-through cache (docs/workloads.md §6) can say it."""
    return parameters["method"] in WRITE_THROUGH and update_round_trip_s(measurements) is not None


def _is_static(parameters: Mapping[str, Any]) -> bool:
    return parameters.get("cache_prefill", True) and not parameters.get("admission", False)


def _from_shares(prediction: Prediction, partition: int) -> Rates:
    at_server = prediction.trace.shares[partition]
    return Rates(prediction.requests[partition] - at_server, at_server)
