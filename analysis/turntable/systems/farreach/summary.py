"""What a row of summary.csv has beside what every system has.

A value that is missing is None, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from turntable.histograms import PERCENTILES
from turntable.results import Row
from turntable.system import HEAD
from turntable.systems.farreach import bandwidth, dynamic, offered_latency, recovery, ycsb
from turntable.systems.farreach.measurement import ClientPartition, Measurement
from turntable.systems.farreach.rotation import (
    Aggregate,
    Placement,
    aggregate,
    drift,
    mean_bottleneck,
)
from turntable.systems.farreach.rules.capacity import worst_utilization
from turntable.systems.farreach.write_through import expected_aggregate, update_round_trip_s
from turntable.verdict import Case
from turntable_core.reference import Reference
from turntable_systems.farreach.prediction import Prediction

PARAMETERS = ("method", "workload", "servers", "cache_size", "value_bytes", "theta")
THROUGHPUT = (
    "aggregate_ops_per_s",
    "switch_ops_per_s",
    "server_ops_per_s",
    "normalized_throughput",
    "imbalance_ratio",
)
ABSOLUTE = ("bottleneck_partition", "busiest_partition", "absolute_ops_per_s")
EXPECTED = ("predicted_normalized", "predicted_imbalance", "trace_normalized", "trace_imbalance")
COLUMNS = (
    *HEAD,
    *PARAMETERS,
    "round",
    "capacity_ops_per_s",
    *THROUGHPUT,
    *EXPECTED,
    "paper_normalized",
    "busiest_utilization",
    "latency_mean_us",
    *(f"latency_{name}_us" for name in PERCENTILES),
    "iterations_ok",
    "iterations_failed",
    "retries",
    "verdict",
    # Columns are only ever added, at the end: readers may go by position.
    *ABSOLUTE,
    "not_checked",
    "update_round_trip_us",
    "trace_aggregate_ops_per_s",
    *recovery.COLUMNS,
    "iterations_repeated",
    *dynamic.COLUMNS,
    *offered_latency.COLUMNS,
    *bandwidth.COLUMNS,
    *ycsb.COLUMNS,
)


def values(case: Case, reference: Reference) -> Row:
    measurements, prediction = case.measurements, case.prediction
    capacity = case.parameters["capacity_ops_per_s"]
    model = expected_aggregate(prediction, measurements, capacity)
    round_trip_s = update_round_trip_s(measurements)
    trace = model or prediction.trace
    return {
        "capacity_ops_per_s": capacity,
        **_throughput(case),
        "predicted_normalized": prediction.infinite.normalized,
        "predicted_imbalance": prediction.infinite.imbalance,
        "trace_normalized": trace.normalized,
        "trace_imbalance": trace.imbalance,
        "paper_normalized": reference.value("normalized_throughput", case.parameters),
        "busiest_utilization": worst_utilization(measurements, capacity),
        "latency_mean_us": _mean_latency_us(measurements) if case.complete else None,
        "update_round_trip_us": None if round_trip_s is None else round_trip_s * 1e6,
        "trace_aggregate_ops_per_s": _trace_aggregate(prediction, model, capacity),
        **recovery.columns(measurements),
        **dynamic.columns(case),
        **offered_latency.columns(case),
        **bandwidth.columns(case),
        **ycsb.columns(case.parameters, [one.ycsb for one in measurements]),
    }


def _trace_aggregate(
    prediction: Prediction, model: Aggregate | None, capacity_ops_per_s: float
) -> float | None:
    """What servers of this capacity reach together; None without a capacity."""
    units = prediction.trace.normalized if model is None else model.total
    return units * capacity_ops_per_s if units and capacity_ops_per_s else None


def placements(measurements: Sequence[Measurement]) -> list[Placement]:
    result = []
    for measurement in measurements:
        bottleneck, *rotated = measurement.partitions
        partition = rotated[0] if rotated else None
        rates = None if partition is None else measurement.rates(partition)
        result.append(Placement(measurement.rates(bottleneck), partition, rates))
    return result


def _throughput(case: Case) -> Row:
    bottleneck = {"bottleneck_partition": case.prediction.bottleneck}
    missing = dict.fromkeys((*THROUGHPUT, *ABSOLUTE)) | bottleneck
    if not case.complete:
        return missing
    result = aggregate(case.prediction.bottleneck, placements(case.measurements))
    if result.total == 0:  # nothing was answered: no measurement of a throughput
        return missing
    return {
        "aggregate_ops_per_s": result.total,
        "switch_ops_per_s": result.switch,
        "server_ops_per_s": result.server,
        "normalized_throughput": result.normalized,
        "imbalance_ratio": result.imbalance,
        **bottleneck,
        "busiest_partition": result.busiest_partition,
        "absolute_ops_per_s": result.absolute,
    }


def weighted_partitions(measurements: Sequence[Measurement]) -> list[tuple[ClientPartition, float]]:
    """Bottleneck: mean over the iterations.

    Rotated partitions: once each, scaled with the bottleneck's drift. In open loops nothing drifts:
    rates are given, and what differs from them is chance, in which nothing is to be scaled.
    """
    rates = placements(measurements)
    mean = mean_bottleneck(rates).total
    parts = []
    for measurement, placement in zip(measurements, rates, strict=True):
        bottleneck, *rotated = measurement.partitions
        parts.append((measurement.clients[bottleneck], 1 / len(measurements)))
        is_open = measurement.open_loop is not None
        weight = 1.0 if is_open else drift(mean, placement.bottleneck.total)
        parts += [(measurement.clients[partition], weight) for partition in rotated]
    return parts


def _mean_latency_us(measurements: Sequence[Measurement]) -> float | None:
    """From exact sums."""
    parts = weighted_partitions(measurements)
    operations = sum(client.latencies * weight for client, weight in parts)
    sum_us = sum(client.latency_sum_ns * weight for client, weight in parts) / 1000
    return sum_us / operations if operations else None
