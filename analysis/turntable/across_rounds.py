"""cells.csv: one row per cell, its valid rounds together.

Rates, ratios and the mean latency are means over the rounds with the half-width of their 95 %
interval; percentiles are read from one histogram of all these rounds. Derived from the same rounds
as the report's results, so a cell without a valid round has empty results.
"""

from __future__ import annotations

from collections.abc import Sequence

from turntable.cells import Cell
from turntable.histograms import PERCENTILES
from turntable.summary import PARAMETER_COLUMNS, Row, to_csv

MEANS = (
    "aggregate_ops_per_s",
    "absolute_ops_per_s",
    "normalized_throughput",
    "imbalance_ratio",
    "latency_mean_us",
)
EXPECTED = ("predicted_normalized", "predicted_imbalance", "trace_normalized", "trace_imbalance")
COLUMNS = (
    "experiment",
    "profile",
    "fidelity_class",
    "system",
    *PARAMETER_COLUMNS,
    "rounds",
    "valid_rounds",
    *(name for mean in MEANS for name in (mean, f"{mean}_half_width")),
    *EXPECTED,
    "paper_normalized",
    "paper_imbalance",
    *(f"latency_{name}_us" for name in PERCENTILES),
)


def cells_csv(cells: Sequence[Cell]) -> bytes:
    return to_csv([_row(cell) for cell in cells], COLUMNS)


def _row(cell: Cell) -> Row:
    plan = cell.run.plan
    row = {
        "experiment": plan.experiment,
        "profile": plan.profile,
        "fidelity_class": cell.run.fidelity_class,
        "system": plan.system,
        **{column: cell.parameters[column] for column in PARAMETER_COLUMNS},
        "rounds": len(cell.rounds),
        "valid_rounds": len(cell.counted),
        **{column: cell.predicted(column) for column in EXPECTED},
        "paper_normalized": cell.paper["normalized_throughput"],
        "paper_imbalance": cell.paper["imbalance_ratio"],
    }
    for column in MEANS:
        result = cell.measured(column)
        row[column] = result.mean if result else None
        row[f"{column}_half_width"] = result.half_width if result else None
    for name, percent in PERCENTILES.items():
        row[f"latency_{name}_us"] = cell.latency.percentile(percent)
    return row
