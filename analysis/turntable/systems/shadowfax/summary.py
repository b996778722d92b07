"""What the system adds to a row of summary.csv."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from turntable.percentiles import percentile_us
from turntable.results import Row
from turntable.systems.shadowfax import capacity
from turntable.systems.shadowfax.little import little_us
from turntable.systems.shadowfax.measurement import Measurement
from turntable.verdict import Case

PARAMETERS = (
    *("workload", "distribution", "servers", "threads", "keys", "value_bytes"),
    *("batch_operations", "pipeline", "memory_share", "rate_per_s"),
    *("cluster", "capacity_per_s", "range_check"),
)
# Round trips are those of batches in full pipelines: queueing, and no service time.
COLUMNS = (
    "aggregate_ops_per_s",
    "ops_per_s_per_worker",
    "fill_ops_per_s",
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
    *("before_ops_per_s", "after_ops_per_s"),
    *("predicted_before_ops_per_s", "predicted_after_ops_per_s"),
    *("cut_ms", "complete_ms", "moved_records", "sampled_records", "dip_share", "silent_ms"),
    *("indirections", "fetched_records"),  # of a migration that sends where records are
    *("device_reads_per_s", "device_alone_reads_per_s", "device_limit_ops_per_s"),
    "device_read_mb",
    "device_written_mb",
    "theta",  # of a Zipfian distribution alone
    "splits",  # of such a range check alone
    *("owners", "move_share", "sample_s", "indirection"),  # of a cluster alone
    *("store", "store_version", "fill_batch_bytes", "fill_pipeline"),
)
# Parameters that not every cell has, and those that plans of earlier versions have not.
_OF_SOME = (
    *("theta", "splits", "owners", "move_share", "sample_s", "indirection"),
    *("store", "fill_batch_bytes", "fill_pipeline"),
)
MEANS = (
    *("aggregate_ops_per_s", "ops_per_s_per_worker", "round_trip_mean_us", "round_trip_p50_us"),
    "fill_ops_per_s",
    *("server_busy_share", "client_busy_share", "pending_share"),
    *("device_reads_per_s", "device_alone_reads_per_s", "device_limit_ops_per_s"),
    *("before_ops_per_s", "after_ops_per_s", "cut_ms", "complete_ms", "dip_share", "silent_ms"),
)
NORMALIZED = ("consistency", "pending_share", "dip_share")


def values(case: Case) -> Row:
    row: Row = dict.fromkeys(COLUMNS) | {name: case.parameters.get(name) for name in _OF_SOME}
    return row | _measured(case) if case.complete else row


def _measured(case: Case) -> Row:
    (measurement,) = case.measurements
    clients, servers = measurement.clients, measurement.servers
    batches = clients.batches + clients.refused_batches
    return {
        "aggregate_ops_per_s": measurement.ops_per_s or None,  # nothing is no rate
        "ops_per_s_per_worker": measurement.ops_per_s / servers.workers or None,
        "fill_ops_per_s": clients.fill_ops_per_s,
        "round_trip_mean_us": clients.round_trip_mean_us,
        "round_trip_p50_us": percentile_us(clients.round_trip_ns, 50),
        "round_trip_p99_us": percentile_us(clients.round_trip_ns, 99),
        **_law(measurement, case.parameters),
        **_phases(measurement, case.parameters),
        **_migration(measurement),
        "server_busy_share": servers.busy_share,
        "client_busy_share": clients.cpu_s / (clients.threads * measurement.seconds),
        "pending_share": _share(clients.pending, clients.operations),
        "refused_share": _share(clients.refused_batches, batches),
        "offered_ops_per_s": (
            None if clients.offered is None else clients.offered / measurement.seconds
        ),
        **_device(measurement),
        "device_read_mb": _megabytes(servers.device_read_bytes_total),
        "device_written_mb": _megabytes(servers.device_written_bytes_total),
        "store_version": servers.version,
    }


def _law(measurement: Measurement, parameters: Mapping[str, Any]) -> Row:
    expected, mean = little_us(measurement, parameters), measurement.clients.round_trip_mean_us
    if expected is None or mean is None:
        return {}
    return {"little_us": expected, "consistency": mean / expected}


def _phases(measurement: Measurement, parameters: Mapping[str, Any]) -> Row:
    found: Row = {}
    for name, phase in capacity.phases(measurement, parameters).items():
        if name == "all":
            continue
        found[f"{name}_ops_per_s"] = capacity.ops_per_s(measurement, phase)
        found[f"predicted_{name}_ops_per_s"] = capacity.predicted_ops_per_s(phase, parameters)
    return found


def _migration(measurement: Measurement) -> Row:
    """Of the only one; of several nothing is said."""
    if len(measurement.migrations) != 1:
        return {}
    (migration,) = measurement.migrations
    cut_s, complete_s = (migration.since_begin_s(step) for step in ("owned", "complete"))
    return {
        "cut_ms": None if cut_s is None else 1e3 * cut_s,
        "complete_ms": None if complete_s is None else 1e3 * complete_s,
        "moved_records": migration.records,
        "sampled_records": migration.sampled,
        "indirections": migration.indirections,
        "fetched_records": migration.fetched,
        "dip_share": _dip(measurement),
        "silent_ms": 1e3 * measurement.clients.silent_s,
    }


def _dip(measurement: Measurement) -> float | None:
    """The fewest operations of a sample while keys move, beside the mean of those before."""
    (migration,) = measurement.migrations
    if not migration.complete:
        return None
    samples = measurement.clients.samples
    begin, end = (migration.steps_s[step] for step in ("prepare", "complete"))
    before = [samples.operations[index] for index in samples.between(0, begin)]
    # Also those that have only a part of it.
    moving = samples.between(begin - samples.seconds, end + samples.seconds)
    if not before or not moving or not fmean(before):
        return None
    return min(samples.operations[index] for index in moving) / fmean(before)


def _device(measurement: Measurement) -> Row:
    """What it was read, what it gives alone, and how many operations that would be if each needed
    as many reads. Additions write as well, so they may not reach it.
    """
    servers = measurement.servers
    reads, alone = servers.device_reads, servers.device_alone_reads_per_s
    if not reads:
        return {}
    return {
        "device_reads_per_s": reads / measurement.seconds,
        "device_alone_reads_per_s": alone,
        "device_limit_ops_per_s": _limit(alone, servers.operations, reads),
    }


def _limit(alone: float | None, operations: int | None, reads: int) -> float | None:
    return None if alone is None or operations is None else alone * operations / reads


def _megabytes(number: int | None) -> float | None:
    return None if number is None else number / 1e6


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
