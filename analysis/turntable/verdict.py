"""May the numbers be believed? A verdict per cell and round, apart from the numbers themselves.

A system says by which rules (turntable.system, turntable.rules). Each looks at every iteration, and
a broken rule is one reason that says how far off how many iterations were. A rule whose data the
raw files or whose bound the plan lacks has not been checked, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from turntable.measurement import Measurement


@dataclass(frozen=True)
class Case:
    """What is judged: one round of a cell, all of its iterations at once."""

    measurements: Sequence[Measurement]
    expected_iterations: int
    bounds: Mapping[str, Any]  # the `validity` section of the experiment
    parameters: Mapping[str, Any]  # of the cell
    fidelity_class: str
    prediction: Any = None  # of the turn, the system's own

    @property
    def complete(self) -> bool:
        return len(self.measurements) == self.expected_iterations

    @property
    def loss_share(self) -> float:
        """Plans of before this bound existed allowed no loss."""
        return self.bounds.get("loss_share_max", 0.0)


@dataclass(frozen=True)
class Finding:
    reason: str | None = None  # the rule is broken
    not_checked: str | None = None  # in every iteration: why not


Rule = Callable[[Case], Finding]


@dataclass(frozen=True)
class Verdict:
    reasons: tuple[str, ...]
    not_checked: Mapping[str, str] = field(default_factory=dict)  # name of a rule -> why

    @property
    def valid(self) -> bool:
        return not self.reasons

    @property
    def not_checked_text(self) -> str:
        return not_checked_text([self])

    def __str__(self) -> str:
        return "valid" if self.valid else "invalid: " + "; ".join(self.reasons)


def not_checked_text(verdicts: Iterable[Verdict]) -> str:
    """Of one or several: "steal, NIC drops (why); errors (why)"."""
    by_reason: dict[str, dict[str, None]] = {}
    for verdict in verdicts:
        for name, why in verdict.not_checked.items():
            by_reason.setdefault(why, {})[name] = None
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())


def _not_done(case: Case) -> list[str]:
    """What the experiment's timeline should have done."""
    return [
        f"{event.label} was not done in iteration {measurement.iteration}: {event.error}"
        for measurement in case.measurements
        for event in measurement.events
        if event.error is not None
    ]


def judge(rules: Mapping[str, Rule], case: Case) -> Verdict:
    """Reasons in the order of the rules, after what is missing or was not done at all."""
    absent = case.expected_iterations - len(case.measurements)
    missing = f"{absent} of {case.expected_iterations} iterations are missing" if absent else None
    findings = {name: rule(case) for name, rule in rules.items()}
    reasons = [missing, *_not_done(case), *(finding.reason for finding in findings.values())]
    return Verdict(
        tuple(reason for reason in reasons if reason),
        {name: finding.not_checked for name, finding in findings.items() if finding.not_checked},
    )
