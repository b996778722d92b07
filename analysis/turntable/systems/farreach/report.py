"""What the partial of the report shows beside what every page has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable.results import Row, Run
from turntable.systems.farreach import bandwidth, changes, recovery, targets, traffic
from turntable.systems.farreach.artifact import arithmetic
from turntable.systems.farreach.gains import gains
from turntable.systems.farreach.state import PACED, STEADY
from turntable.systems.farreach.updates import comparisons
from turntable_systems.farreach.methods import answers_everything

RATIOS = (  # heading, column measured, what the predictions' columns end with, decimals
    ("Normalized throughput", "normalized_throughput", "normalized", 2),
    ("Imbalance", "imbalance_ratio", "imbalance", 3),
)


def variables(run: Run) -> Mapping[str, Any]:
    """Of farreach.html.j2."""
    return {
        "ratios": RATIOS,
        "moved": any(_bottleneck_moved(row) for row in run.rows),
        "imported": arithmetic.rows(run.cells),
        "gains": gains(run.cells),
        "updates": comparisons(run.cells),
        "recoveries": recovery.recovered(run.cells),
        "recovery_phases": recovery.PHASES,
        **changes.variables(run.cells),
        "traffic": [traffic.row_of(one) for one in bandwidth.traffic(run.cells)],
        "all_hits": [c for c in run.cells if answers_everything(c.parameters)],
        **_targets(run),
    }


def _targets(run: Run) -> Mapping[str, Any]:
    """Of targets.html.j2, and what loops are closed beside."""
    rows, closed = targets.targets(run.cells), targets.closed(run.cells)
    return {
        "closed": closed,
        "queueing": any(cell.latency.values for cell in closed),
        "targets": rows,
        "steady": any(row.state == STEADY for row in rows),
        "paced": any(row.state == PACED for row in rows),
        "shown": targets.SHOWN,
        "published_targets": targets.published(run.reference_file) if rows else [],
        "published_statistics": targets.PUBLISHED,
        "emulated": run.emulated,
    }


def _bottleneck_moved(row: Row) -> bool:
    """Whether another partition than the rotation's bottleneck was the busiest."""
    return row["busiest_partition"] not in (None, row["bottleneck_partition"])
