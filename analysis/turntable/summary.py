"""summary.csv: one row per cell and round, the columns of the design's contract.

A value that is missing is empty, never 0.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from turntable import recovery
from turntable.histograms import PERCENTILES, merge
from turntable.load import UNKNOWN, Run, TurnData
from turntable.measurement import ClientPartition, Measurement
from turntable.reference import Reference
from turntable.rotation import Aggregate, Placement, aggregate, drift, mean_bottleneck
from turntable.verdict import Verdict, judge, worst_utilization
from turntable.write_through import expected_aggregate, update_round_trip_s
from turntable_core.plan import Prediction

PARAMETER_COLUMNS = ("method", "workload", "servers", "cache_size", "value_bytes", "theta")
THROUGHPUT_COLUMNS = (
    "aggregate_ops_per_s",
    "switch_ops_per_s",
    "server_ops_per_s",
    "normalized_throughput",
    "imbalance_ratio",
)
ABSOLUTE_COLUMNS = ("bottleneck_partition", "busiest_partition", "absolute_ops_per_s")
LATENCY_COLUMNS = ("latency_mean_us", *(f"latency_{name}_us" for name in PERCENTILES))
COLUMNS = (
    "experiment",
    "profile",
    "fidelity_class",
    "system",
    *PARAMETER_COLUMNS,
    "round",
    "capacity_ops_per_s",
    *THROUGHPUT_COLUMNS,
    "predicted_normalized",
    "predicted_imbalance",
    "trace_normalized",
    "trace_imbalance",
    "paper_normalized",
    "busiest_utilization",
    *LATENCY_COLUMNS,
    "iterations_ok",
    "iterations_failed",
    "retries",
    "verdict",
    # Columns are only ever added, at the end: readers may go by position.
    *ABSOLUTE_COLUMNS,
    "not_checked",
    "update_round_trip_us",
    "trace_aggregate_ops_per_s",
    *recovery.COLUMNS,
)

Row = dict[str, Any]


def summarize(run: Run) -> list[Row]:
    """Rows in the plan's order."""
    reference = Reference(run.reference_file)
    return [_row(run, turn, reference) for turn in run.turns]


def to_csv(rows: Sequence[Row], columns: Sequence[str] = COLUMNS) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({column: _cell(row[column]) for column in columns})
    return text.getvalue().encode()


def verdict_of(run: Run, turn: TurnData) -> Verdict:
    """What the rules say, and what is damaged in the run's files."""
    verdict = judge(
        turn.measurements,
        turn.expected_iterations,
        run.plan.validity,
        turn.parameters,
        run.fidelity_class,
        turn.prediction,
    )
    if run.fidelity_class == UNKNOWN:
        reason = "manifest.json cannot be read: nothing says whether the testbed was emulated"
        verdict = replace(verdict, reasons=(*verdict.reasons, reason))
    return replace(verdict, reasons=(*verdict.reasons, *turn.damage))


def _row(run: Run, turn: TurnData, reference: Reference) -> Row:
    parameters, measurements, prediction = turn.parameters, turn.measurements, turn.prediction
    verdict = verdict_of(run, turn)
    capacity = parameters["capacity_ops_per_s"]
    model = expected_aggregate(prediction, measurements, capacity)
    round_trip_s = update_round_trip_s(measurements)
    trace = model or prediction.trace
    return {
        "experiment": run.plan.experiment,
        "profile": run.plan.profile,
        "fidelity_class": run.fidelity_class,
        "system": run.plan.system,
        **{column: parameters[column] for column in PARAMETER_COLUMNS},
        "round": turn.round,
        "capacity_ops_per_s": parameters["capacity_ops_per_s"],
        **_throughput(turn),
        "predicted_normalized": prediction.infinite.normalized,
        "predicted_imbalance": prediction.infinite.imbalance,
        "trace_normalized": trace.normalized,
        "trace_imbalance": trace.imbalance,
        "paper_normalized": reference.value("normalized_throughput", parameters),
        "busiest_utilization": worst_utilization(measurements, parameters["capacity_ops_per_s"]),
        **_latency(turn),
        "iterations_ok": len(measurements),
        "iterations_failed": turn.failed_attempts,
        "retries": sum(measurement.retries for measurement in measurements)
        if measurements
        else None,
        "verdict": str(verdict),
        "not_checked": verdict.not_checked_text,
        "update_round_trip_us": None if round_trip_s is None else round_trip_s * 1e6,
        "trace_aggregate_ops_per_s": _trace_aggregate(prediction, model, capacity),
        **recovery.columns(measurements),
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


def _throughput(turn: TurnData) -> Row:
    bottleneck = {"bottleneck_partition": turn.prediction.bottleneck}
    missing = dict.fromkeys((*THROUGHPUT_COLUMNS, *ABSOLUTE_COLUMNS)) | bottleneck
    if not turn.complete:
        return missing
    result = aggregate(turn.prediction.bottleneck, placements(turn.measurements))
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

    Rotated partitions: once each, scaled with the bottleneck's drift.
    """
    rates = placements(measurements)
    mean = mean_bottleneck(rates).total
    parts = []
    for measurement, placement in zip(measurements, rates, strict=True):
        bottleneck, *rotated = measurement.partitions
        parts.append((measurement.clients[bottleneck], 1 / len(measurements)))
        weight = drift(mean, placement.bottleneck.total)
        parts += [(measurement.clients[partition], weight) for partition in rotated]
    return parts


def _latency(turn: TurnData) -> Row:
    if not turn.complete:
        return dict.fromkeys(LATENCY_COLUMNS)
    parts = weighted_partitions(turn.measurements)
    merged = merge((text, weight) for client, weight in parts for text in client.histograms)
    operations = sum((client.server_ops + client.switch_ops) * weight for client, weight in parts)
    sum_us = sum(client.latency_sum_ns * weight for client, weight in parts) / 1000
    percentiles = {
        f"latency_{name}_us": merged.percentile(percent) for name, percent in PERCENTILES.items()
    }
    return {"latency_mean_us": sum_us / operations if operations else None, **percentiles}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return repr(round(value, 4)) if isinstance(value, float) else str(value)
