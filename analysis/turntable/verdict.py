"""May the numbers be believed? A verdict per cell and round, apart from the numbers themselves.

Normalized throughput follows from the traces alone in a closed loop, so it cannot show that a run
went wrong. The rules (turntable.rules) can: each looks at every iteration, and a broken rule is one
reason that says how far off how many iterations were. A rule whose data the raw files or whose
bound the plan lacks has not been checked, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from turntable.measurement import Measurement
from turntable.rules import RULES, Case, utilization
from turntable_core.plan import Prediction


@dataclass(frozen=True)
class Verdict:
    reasons: tuple[str, ...]
    not_checked: Mapping[str, str] = field(default_factory=dict)  # name of a rule -> why

    @property
    def valid(self) -> bool:
        return not self.reasons

    @property
    def not_checked_text(self) -> str:
        """ "steal, NIC drops (why); settled (why)"."""
        by_reason: dict[str, list[str]] = {}
        for name, why in self.not_checked.items():
            by_reason.setdefault(why, []).append(name)
        return "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())

    def __str__(self) -> str:
        return "valid" if self.valid else "invalid: " + "; ".join(self.reasons)


def judge(
    measurements: Sequence[Measurement],
    expected_iterations: int,
    bounds: Mapping[str, Any],
    parameters: Mapping[str, Any],
    fidelity_class: str,
    prediction: Prediction | None = None,
) -> Verdict:
    """bounds: the `validity` section of the experiment; parameters: of the cell; prediction: of the
    turn.
    """
    case = Case(measurements, bounds, parameters, fidelity_class, prediction)
    absent = expected_iterations - len(measurements)
    missing = f"{absent} of {expected_iterations} iterations are missing" if absent else None
    findings = {name: rule(case) for name, rule in RULES.items()}
    reasons = [missing, *(finding.reason for finding in findings.values())]
    return Verdict(
        tuple(reason for reason in reasons if reason),
        {name: finding.not_checked for name, finding in findings.items() if finding.not_checked},
    )


def worst_utilization(
    measurements: Sequence[Measurement], capacity_ops_per_s: float
) -> float | None:
    """The iteration's utilization that is farthest from 1."""
    values = [utilization(measurement, capacity_ops_per_s) for measurement in measurements]
    return max(
        (value for value in values if value is not None),
        key=lambda value: abs(value - 1),
        default=None,
    )
