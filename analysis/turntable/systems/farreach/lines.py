"""What the lines that follow a run say: texts with the ranks by which narrow terminals drop them
(turntable_core.terminal_lines.fitting).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable.results import Row
from turntable.system import Facts
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.rules.capacity import utilization


def of_iteration(measurement: Measurement, parameters: Mapping[str, Any]) -> Facts:
    busy = utilization(measurement, parameters["capacity_ops_per_s"])
    return _known(
        (0, measurement.ops_per_s, "{:>9,.0f} ops/s"),
        (1, busy, "utilization {:.3f}"),
    )


def of_turn(row: Row) -> Facts:
    return _known(
        (4, row["aggregate_ops_per_s"], "{:,.0f} ops/s"),
        (0, row["normalized_throughput"], "normalized {:.2f}"),
        (1, row["imbalance_ratio"], "imbalance {:.3f}"),
        (3, row["busiest_utilization"], "utilization {:.3f}"),
    )


def _known(*facts: tuple[int, float | None, str]) -> Facts:
    return [(rank, form.format(value)) for rank, value, form in facts if value is not None]
