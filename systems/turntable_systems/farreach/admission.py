"""From when on a key is hot, where keys are admitted while clients run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_systems.farreach.prediction import Prediction

# The paper's threshold, and the rate at which it was used (FarReach's dynamic experiment).
PAPER_THRESHOLD, PAPER_OPS_PER_S = 20, 210_000


def is_live(parameters: Mapping[str, Any]) -> bool:
    return parameters.get("admission", False)


def hot_threshold(parameters: Mapping[str, Any], prediction: Prediction) -> int:
    """As given; else the paper's. With live admission it is scaled with the rate: at a tenth of the
    requests, a key that is as popular is sampled a tenth as often between two clearings.
    """
    if "hot_threshold" in parameters:
        return parameters["hot_threshold"]
    rate = expected_ops_per_s(parameters, prediction)
    if rate is None or not is_live(parameters):
        return PAPER_THRESHOLD
    return max(1, round(threshold_at(rate)))


def threshold_at(ops_per_s: float) -> float:
    """The paper's at this rate."""
    return PAPER_THRESHOLD * ops_per_s / PAPER_OPS_PER_S


def expected_ops_per_s(parameters: Mapping[str, Any], prediction: Prediction) -> float | None:
    """Of a switch that answers all requests for cached keys, whatever the cell's method: so all
    methods have one threshold, as in the paper. None where nothing limits the servers.
    """
    capacity, normalized = parameters["capacity_ops_per_s"], prediction.cached_normalized
    return capacity * normalized if capacity and normalized else None
