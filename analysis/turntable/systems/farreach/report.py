"""What the partial of the report shows beside what every page has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable.results import Row, Run
from turntable.systems.farreach import recovery
from turntable.systems.farreach.updates import comparisons

RATIOS = (  # heading, column measured, what the predictions' columns end with, decimals
    ("Normalized throughput", "normalized_throughput", "normalized", 2),
    ("Imbalance", "imbalance_ratio", "imbalance", 3),
)


def variables(run: Run) -> Mapping[str, Any]:
    """Of farreach.html.j2."""
    return {
        "ratios": RATIOS,
        "moved": any(_bottleneck_moved(row) for row in run.rows),
        "updates": comparisons(run.cells),
        "recoveries": recovery.recovered(run.cells),
        "recovery_phases": recovery.PHASES,
    }


def _bottleneck_moved(row: Row) -> bool:
    """Whether another partition than the rotation's bottleneck was the busiest."""
    return row["busiest_partition"] not in (None, row["bottleneck_partition"])
