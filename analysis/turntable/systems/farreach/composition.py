"""Do both partitions of an iteration get their shares of the traces?

In a closed loop a server that always has a queue runs at its capacity, whatever its share of the
requests is. So the servers of an iteration tell the traces' composition only once the less busy one
has worked off its queue, and only if every client's trace has requests for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turntable.systems.farreach.expected import (
    NoPromiseError,
    Share,
    expected_rates,
    is_modelled,
    model_deviations,
)
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.rotation import Rates
from turntable_systems.farreach.prediction import Prediction


def rotated_shares(
    measurements: Sequence[Measurement], prediction: Prediction, parameters: Mapping[str, Any]
) -> list[Share]:
    """Of what servers answered in an iteration, the part that was the rotated partition's.

    Raises NoPromiseError.
    """
    expected = expected_rates(measurements, prediction, parameters)
    deviations = model_deviations(measurements, prediction, parameters)
    shares = []
    for measurement in measurements:
        rates = expected[measurement.iteration]
        answered = [measurement.clients[part].server_ops for part in measurement.partitions]
        at_servers = sum(part.server for part in rates)
        if len(rates) == 2 and sum(answered) and at_servers > 0:
            shares.append(
                Share(
                    measurement.iteration,
                    answered[1] / sum(answered),
                    rates[1].server / at_servers,
                    sum(answered),
                    deviations[measurement.iteration].rotated if deviations else 0.0,
                )
            )
    return shares


def unsettled_share(
    measurements: Sequence[Measurement], prediction: Prediction, parameters: Mapping[str, Any]
) -> float:
    """How far off normalized throughput is because queues of the beginning were still there.

    All clients begin at once, so both servers have a queue. While the less busy one's lasts, it
    runs at its capacity and not at its share of it. Raises NoPromiseError.
    """
    expected = expected_rates(measurements, prediction, parameters)
    capacity = parameters["capacity_ops_per_s"]
    if capacity <= 0:
        raise NoPromiseError("servers have no capacity")
    if is_modelled(measurements, parameters):
        return 0.0  # the model replays the warm-up too: what it promises is of the same window
    whole, error = 1.0, 0.0
    for measurement in measurements:
        rates = expected[measurement.iteration]
        if len(rates) < 2 or min(part.server for part in rates) <= 0:
            continue
        ratio = rates[1].server / rates[0].server
        late_s = _queue_s(rates, parameters["clients"], capacity) - parameters["warmup_s"]
        unsettled = min(1.0, max(0.0, late_s / measurement.seconds))
        whole += ratio
        error += unsettled * (1 - ratio)
    return abs(error) / whole


def _queue_s(rates: Sequence[Rates], clients: int, capacity: float) -> float:
    """How long the less busy server's first queue lasts, while both work at their capacity."""
    at_servers = [part.server for part in rates]
    share = min(at_servers) / sum(at_servers)
    drained_per_s = capacity * (1 - 2 * share)
    return clients * share / drained_per_s if drained_per_s > 0 else 0.0
