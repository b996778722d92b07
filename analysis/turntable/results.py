"""A run as reports and figures see it: its turns judged, and together by cell.

Results (rates, latency) count valid rounds only: an invalid or incomplete round is a gap.
Diagnostics (what each iteration did) show every iteration that was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from turntable.histograms import Merged, merge
from turntable.measurement import Measurement
from turntable.stats import Estimate, estimate
from turntable.verdict import Verdict
from turntable_core.journal import Attempt
from turntable_core.plan import Plan, Turn
from turntable_systems import FURTHER

# The published numbers are part of this repository, or of a system's own, not of a run.
EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"

UNKNOWN = "unknown"  # fidelity class without a manifest
NOT_MEASURED = "not measured"  # a gap of its own: nobody tried yet, or nothing came of it
NOT_AVAILABLE = "not available"  # another one: the testbed cannot do it

Row = dict[str, Any]  # of summary.csv, or of another table
Weighted = Sequence[tuple[str, float]]  # V2-encoded histograms with their weights


@dataclass(frozen=True)
class RunFacts:
    """What plan, manifest and journal of a run say, without its raw files."""

    directory: Path
    plan: Plan
    manifest: Mapping[str, Any]  # empty if there is none that can be read
    attempts: tuple[Attempt, ...]
    torn_journal: bool  # its last line was cut off, and ignored

    @property
    def name(self) -> str:
        return self.directory.resolve().name

    @property
    def fidelity_class(self) -> str:
        return self.manifest.get("fidelity_class", UNKNOWN)

    @property
    def imported(self) -> Mapping[str, Any] | None:
        """What the manifest says of where it was imported from; None: it was measured here."""
        return self.manifest.get("imported")

    @property
    def emulated(self) -> bool:
        return self.fidelity_class == "emulated"

    @property
    def reference_file(self) -> Path | None:
        """Of the published numbers; where an error expects it if it is nowhere."""
        if not self.plan.reference:
            return None
        places = (EXPERIMENTS, *(directory / "experiments" for directory in FURTHER))
        files = [place / self.plan.reference for place in places]
        return next((file for file in files if file.exists()), files[0])


@dataclass(frozen=True, eq=False)
class TurnResult:
    """One round of a cell: the plan's turn, the iterations that succeeded, what follows."""

    turn: Turn
    measurements: tuple[Measurement, ...]  # in order
    failed_attempts: int
    histograms: Weighted  # latency in ns; empty unless complete
    verdict: Verdict
    row: Row  # of summary.csv
    refused: int = 0  # iterations that the testbed cannot do

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.turn.cell.parameters

    @property
    def prediction(self) -> Any:
        return self.turn.prediction

    @property
    def round(self) -> int:
        return self.turn.round

    @property
    def expected_iterations(self) -> int:
        return len(self.turn.iterations)

    @property
    def complete(self) -> bool:
        return len(self.measurements) == self.expected_iterations

    @property
    def taken_from(self) -> str | None:
        """<experiment>/<run> that has measured it, or a part of it, where it is another."""
        return self.row["taken_from"]

    @property
    def begun(self) -> bool:
        return bool(self.measurements) or self.failed_attempts > 0 or self.refused > 0

    @property
    def not_available(self) -> str | None:
        """Why the testbed can do none of it."""
        return self.verdict.not_available

    @property
    def state(self) -> str:
        """The verdict in a word."""
        if self.not_available:
            return NOT_AVAILABLE
        return "valid" if self.valid else "invalid" if self.begun else NOT_MEASURED

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is invalid."""
        return self.verdict.reasons

    @property
    def valid(self) -> bool:
        return self.verdict.valid

    @property
    def missing(self) -> list[int]:
        """Iterations without a successful attempt that can be read."""
        present = {measurement.iteration for measurement in self.measurements}
        return [it.index for it in self.turn.iterations if it.index not in present]


@dataclass(frozen=True, eq=False)
class CellResult:
    """The rounds of a cell."""

    run: RunFacts
    id: str
    label: str  # its identity, then what else tells it from others: "one · two · three"
    peculiarities: tuple[str, ...]  # the latter
    parameters: Mapping[str, Any]
    turns: tuple[TurnResult, ...]
    paper: Mapping[str, float | None]  # published values by metric

    @property
    def counted(self) -> tuple[TurnResult, ...]:
        """The rounds that results are made of."""
        return tuple(turn for turn in self.turns if turn.valid)

    @property
    def shown(self) -> tuple[TurnResult, ...]:
        """The rounds of diagnostics: those counted, or else whatever was measured."""
        return self.counted or self.turns

    @property
    def gap(self) -> str | None:
        """Why the cell has no result, in a word."""
        if self.counted:
            return None
        if self.not_available:
            return NOT_AVAILABLE
        if not any(turn.measurements for turn in self.turns):
            return NOT_MEASURED
        return "incomplete" if all(turn.missing for turn in self.turns) else "invalid"

    @property
    def not_available(self) -> str | None:
        """Why the testbed cannot do it, of one of which nothing was measured."""
        return next((turn.not_available for turn in self.turns if turn.not_available), None)

    @property
    def missing(self) -> list[int]:
        """Iterations that no round has."""
        return sorted(set.intersection(*(set(turn.missing) for turn in self.turns)))

    def measured(self, column: str) -> Estimate | None:
        """A column of summary.csv over the valid rounds."""
        return estimate([turn.row[column] for turn in self.counted])

    def predicted(self, column: str) -> float | None:
        """Mean over the rounds in question: every round may have a prediction of its own."""
        result = estimate([turn.row[column] for turn in self.shown])
        return result.mean if result else None

    @cached_property
    def latency(self) -> Merged:
        """Histograms of all iterations and valid rounds, merged."""
        return merge(part for turn in self.counted for part in turn.histograms)


@dataclass(frozen=True, eq=False)
class Run(RunFacts):
    """Of one turn only if no more was asked for."""

    cells: tuple[CellResult, ...]  # in the plan's order

    @property
    def turns(self) -> tuple[TurnResult, ...]:
        return tuple(turn for cell in self.cells for turn in cell.turns)

    @property
    def judged(self) -> tuple[TurnResult, ...]:
        """Without those that the testbed cannot do."""
        return tuple(turn for turn in self.turns if not turn.not_available)

    @property
    def rows(self) -> list[Row]:
        """Of summary.csv."""
        return [turn.row for turn in self.turns]
