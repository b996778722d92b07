"""The share of requests that the switch should answer, from the traces and the cached set.

Normalized throughput and utilization look the same whether the switch answers or not: the servers
run at their capacity in either case. So this is checked by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turntable.systems.farreach.expected import Share, expected_rates, model_deviations
from turntable.systems.farreach.measurement import Measurement
from turntable_systems.farreach.prediction import Prediction


def hit_shares(
    measurements: Sequence[Measurement], prediction: Prediction, parameters: Mapping[str, Any]
) -> list[Share]:
    """Raises NoPromiseError."""
    expected = expected_rates(measurements, prediction, parameters)
    deviations = model_deviations(measurements, prediction, parameters)
    shares = []
    for measurement in measurements:
        clients = measurement.clients.values()
        by_switch = sum(client.switch_ops for client in clients)
        operations = by_switch + sum(client.server_ops for client in clients)
        if operations:
            rates = expected[measurement.iteration]
            share = sum(part.switch for part in rates) / sum(part.total for part in rates)
            spread = deviations[measurement.iteration].hits if deviations else 0.0
            shares.append(
                Share(measurement.iteration, by_switch / operations, share, operations, spread)
            )
    return shares
