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
    refused: Mapping[int, str] = field(default_factory=dict)  # iteration -> why it cannot be done
    cell_measured: bool = False  # something of the cell, in this round or another

    @property
    def not_available(self) -> str | None:
        """Why there is nothing to judge: the testbed can do none of it, and has done nothing of the
        cell.
        """
        if self.cell_measured or len(self.refused) < self.expected_iterations:
            return None
        return "; ".join(dict.fromkeys(self.refused.values()))

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
    not_available: str | None = None  # why the testbed cannot do it: neither valid nor invalid
    not_checked: Mapping[str, str] = field(default_factory=dict)  # name of a rule -> why

    @property
    def valid(self) -> bool:
        return not self.reasons and self.not_available is None

    @property
    def not_checked_text(self) -> str:
        return not_checked_text([self])

    def __str__(self) -> str:
        if self.not_available is not None:
            return f"not available: {self.not_available}"
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


def _absent(case: Case) -> list[str]:
    expected, refused = case.expected_iterations, len(case.refused)
    missing = expected - len(case.measurements) - refused
    reasons = [f"{missing} of {expected} iterations are missing"] if missing else []
    if refused:
        why = "; ".join(dict.fromkeys(case.refused.values()))
        what = f"{refused} of {expected} iterations"
        reasons.append(
            f"{what} were refused, though others of the cell were measured: {why}"
            if case.cell_measured and not case.measurements
            else f"{what} are not available: {why}"
        )
    return reasons


def judge(rules: Mapping[str, Rule], case: Case) -> Verdict:
    """Reasons in the order of the rules, after what is missing or was not done at all."""
    if case.not_available is not None:
        return Verdict((), case.not_available)
    findings = {name: rule(case) for name, rule in rules.items()}
    reasons = [*_absent(case), *_not_done(case), *(finding.reason for finding in findings.values())]
    return Verdict(
        tuple(reason for reason in reasons if reason),
        not_checked={
            name: finding.not_checked for name, finding in findings.items() if finding.not_checked
        },
    )
