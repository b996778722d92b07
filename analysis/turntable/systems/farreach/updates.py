"""What NetCache's value updates cost beside FarReach, which has none: measured and by the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turntable.results import CellResult
from turntable.systems.farreach.gains import write_back
from turntable.systems.farreach.groups import factors, group
from turntable_systems.farreach.methods import WRITE_THROUGH


@dataclass(frozen=True)
class Comparison:
    """One cell of NetCache. Ratios are of aggregate throughput, FarReach's / NetCache's."""

    workload: str
    label: str  # what its cell is told apart by
    round_trip_us: float
    in_services: float  # u c
    ratio: float | None
    model_ratio: float | None
    normalized: float | None
    model_normalized: float | None
    gap: str | None  # why something was not measured, in a word


def comparisons(cells: Sequence[CellResult]) -> list[Comparison]:
    """Of the cells whose updates were measured, by workload and u; the servers have a capacity."""
    names = factors(cells) if cells else []
    made = [
        _comparison(cell, write_back(cell, cells), group(cell, names))
        for cell in cells
        if cell.predicted("update_round_trip_us") is not None
        and cell.parameters["capacity_ops_per_s"] > 0
        and any(turn.prediction.write_through for turn in cell.shown)  # a model
    ]
    order = {cell.parameters["workload"]: index for index, cell in reversed(list(enumerate(cells)))}
    return sorted(made, key=lambda row: (order[row.workload], row.in_services))


def is_write_through(cell: CellResult) -> bool:
    return cell.parameters["method"] in WRITE_THROUGH


def _comparison(cell: CellResult, other: CellResult | None, label: str) -> Comparison:
    round_trip_us = cell.predicted("update_round_trip_us") or 0.0
    normalized = cell.measured("normalized_throughput")
    gaps = (part.gap for part in (cell, other) if part is not None)
    return Comparison(
        workload=cell.parameters["workload"],
        label=label or cell.parameters["workload"],
        round_trip_us=round_trip_us,
        in_services=round_trip_us / 1e6 * cell.parameters["capacity_ops_per_s"],
        ratio=_quotient(_aggregate(other), _aggregate(cell)),
        model_ratio=_quotient(_expected(other), _expected(cell)),
        normalized=normalized.mean if normalized else None,
        model_normalized=cell.predicted("trace_normalized"),
        gap=next((gap for gap in gaps if gap), None),
    )


def _aggregate(cell: CellResult | None) -> float | None:
    result = cell.measured("aggregate_ops_per_s") if cell else None
    return result.mean if result else None


def _expected(cell: CellResult | None) -> float | None:
    return cell.predicted("trace_aggregate_ops_per_s") if cell else None


def _quotient(dividend: float | None, divisor: float | None) -> float | None:
    return dividend / divisor if dividend and divisor else None
