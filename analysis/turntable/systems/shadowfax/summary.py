"""What the system adds to a row of summary.csv."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable.percentiles import percentile_us
from turntable.results import Row
from turntable.systems.shadowfax.little import little_us
from turntable.systems.shadowfax.measurement import Measurement
from turntable.verdict import Case

PARAMETERS = (
    *("workload", "distribution", "servers", "threads", "keys", "value_bytes"),
    *("batch_operations", "pipeline", "memory_share", "rate_per_s"),
)
# Round trips are those of batches in full pipelines: queueing, and no service time.
COLUMNS = (
    "aggregate_ops_per_s",
    "ops_per_s_per_worker",
    "round_trip_mean_us",
    "round_trip_p50_us",
    "round_trip_p99_us",
    "little_us",
    "consistency",
    "server_busy_share",
    "client_busy_share",
    "pending_share",
    "refused_share",
    "offered_ops_per_s",
    "device_read_mb",
    "device_written_mb",
    "theta",  # of a Zipfian distribution alone
)
MEANS = (
    *("aggregate_ops_per_s", "ops_per_s_per_worker", "round_trip_mean_us", "round_trip_p50_us"),
    *("server_busy_share", "client_busy_share", "pending_share"),
)
NORMALIZED = ("consistency", "pending_share")


def values(case: Case) -> Row:
    row: Row = dict.fromkeys(COLUMNS) | {"theta": case.parameters.get("theta")}
    return row | _measured(case) if case.complete else row


def _measured(case: Case) -> Row:
    (measurement,) = case.measurements
    clients, servers = measurement.clients, measurement.servers
    batches = clients.batches + clients.refused_batches
    return {
        "aggregate_ops_per_s": measurement.ops_per_s or None,  # nothing is no rate
        "ops_per_s_per_worker": measurement.ops_per_s / servers.workers or None,
        "round_trip_mean_us": clients.round_trip_mean_us,
        "round_trip_p50_us": percentile_us(clients.round_trip_ns, 50),
        "round_trip_p99_us": percentile_us(clients.round_trip_ns, 99),
        **_law(measurement, case.parameters),
        "server_busy_share": servers.busy_share,
        "client_busy_share": clients.cpu_s / (clients.threads * measurement.seconds),
        "pending_share": _share(clients.pending, clients.operations),
        "refused_share": _share(clients.refused_batches, batches),
        "offered_ops_per_s": (
            None if clients.offered is None else clients.offered / measurement.seconds
        ),
        "device_read_mb": servers.device_read_bytes_total / 1e6,
        "device_written_mb": servers.device_written_bytes_total / 1e6,
    }


def _law(measurement: Measurement, parameters: Mapping[str, Any]) -> Row:
    expected, mean = little_us(measurement, parameters), measurement.clients.round_trip_mean_us
    if expected is None or mean is None:
        return {}
    return {"little_us": expected, "consistency": mean / expected}


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
