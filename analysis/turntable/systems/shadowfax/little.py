"""Little's law for full pipelines: what is under way divided by what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable.systems.shadowfax.measurement import Measurement


def little_us(measurement: Measurement, parameters: Mapping[str, Any]) -> float | None:
    """The mean round trip of a batch that throughput and pipelines ask for. None where they do not
    say it: in an open loop, without an answer, where operations waited or batches were refused, and
    where servers have unequal parts of the keys, for then a pipeline is not always full.
    """
    clients = measurement.clients
    if clients.offered is not None or not clients.operations:
        return None
    if clients.pending or clients.refused_batches or measurement.shares is not None:
        return None
    sessions = clients.threads * parameters["servers"]
    under_way = sessions * parameters["pipeline"] * parameters["batch_operations"]
    return under_way / measurement.ops_per_s * 1e6
