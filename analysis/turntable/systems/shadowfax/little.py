"""Little's law for full pipelines: what is under way divided by what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable.systems.shadowfax.measurement import Measurement


def little_us(measurement: Measurement, parameters: Mapping[str, Any]) -> float | None:
    """The mean round trip of a batch, in µs, that throughput and pipelines ask for. None where they
    do not say it (why_unknown).
    """
    clients = measurement.clients
    if why_unknown(measurement) is not None:
        return None
    sessions = clients.threads * parameters["servers"]
    under_way = sessions * parameters["pipeline"] * parameters["batch_operations"]
    return under_way / measurement.ops_per_s * 1e6


def why_unknown(measurement: Measurement) -> str | None:
    """Why the law says nothing of the iteration's round trip; None: it does."""
    clients = measurement.clients
    if clients.offered is not None:
        return "pipelines are not full in an open loop"
    if not clients.operations or clients.round_trip_mean_us is None:
        return "no batch was answered in the window"
    if clients.pending:
        return "operations were pending, whose time is not that of their batch"
    if clients.refused_batches:
        return "batches were refused, whose time is not that of their operations"
    if measurement.shares is not None:
        return "pipelines are not full where servers own unequal parts of the keys"
    return None
