"""Did clients start early enough for their closed loop to settle, and did its queues last?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from turntable.rules import limit
from turntable.systems.farreach.measurement import Measurement
from turntable.verdict import Case, Finding, Rule
from turntable_systems.farreach.checks import relaxation_s
from turntable_systems.farreach.closed_loop import latest_start_s
from turntable_systems.farreach.offered import is_open


def latest_start_us(parameters: Mapping[str, Any]) -> float:
    """The lateness after which too little of the warm-up would be left for the loop to settle."""
    if is_open(parameters):
        return round((parameters["warmup_s"] - relaxation_s(parameters)) * 1e6)
    return round(latest_start_s(parameters) * 1e6)


def stall(who: str, late_us: Callable[[Measurement], float | None]) -> Rule:
    """A stall costs nothing while the queues at the servers last, and they hold nearly all clients.
    Half of that is forgiven; the rest may have idled the servers.
    """

    def rule(case: Case) -> Finding:
        def cost(measurement: Measurement) -> float | None:
            late = late_us(measurement)
            if late is None:
                return None
            rate = measurement.busier.ops_per_s
            queue_s = case.parameters["clients"] / rate if rate else 0.0
            return max(0.0, late / 1e6 - queue_s / 2) / measurement.seconds

        return limit(
            case,
            f"{who} stalled for longer than the queues last (share of the window)",
            cost,
            case.bounds.get("late_share_max"),
        )

    return rule
