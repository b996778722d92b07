"""What a report says about a run, before it is drawn.

Results (throughput, latency) count valid rounds only: an invalid or incomplete round is a gap.
Diagnostics (what each iteration did) show every iteration that was measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntable.load import Run, TurnData, load_run
from turntable.reference import Reference
from turntable.report.estimate import Estimate, estimate
from turntable.report.seconds import Second, seconds_by_attempt
from turntable.summary import Row, summarize, verdict_of
from turntable_core import journal
from turntable_core.errors import TurntableError
from turntable_core.run_directory import RunDirectory

# Factors that every label names; others only where they differ between cells.
LABEL_PARAMETERS = ("workload", "method", "servers")


@dataclass(frozen=True)
class Round:
    turn: TurnData
    row: Row  # of summary.csv
    reasons: tuple[str, ...]  # why it is invalid
    seconds: Mapping[int, tuple[Second, ...]]  # by iteration

    @property
    def number(self) -> int:
        return self.turn.round

    @property
    def valid(self) -> bool:
        return not self.reasons

    @property
    def missing(self) -> list[int]:
        """Iterations without a successful attempt."""
        present = {measurement.iteration for measurement in self.turn.measurements}
        return [it.index for it in self.turn.turn.iterations if it.index not in present]


@dataclass(frozen=True)
class Cell:
    id: str
    label: str
    parameters: Mapping[str, Any]
    rounds: tuple[Round, ...]
    paper: Mapping[str, float | None]  # by column of summary.csv

    @property
    def counted(self) -> tuple[Round, ...]:
        """The rounds that results are made of."""
        return tuple(round_ for round_ in self.rounds if round_.valid)

    @property
    def shown(self) -> tuple[Round, ...]:
        """The rounds of diagnostics: those counted, or else whatever was measured."""
        return self.counted or self.rounds

    @property
    def gap(self) -> str | None:
        """Why the cell has no result, in a word."""
        if self.counted:
            return None
        return "incomplete" if all(round_.missing for round_ in self.rounds) else "invalid"

    def measured(self, column: str) -> Estimate | None:
        return estimate([round_.row[column] for round_ in self.counted])

    def predicted(self, column: str) -> float | None:
        """Mean over the rounds in question: every round replays traces of its own."""
        result = estimate([round_.row[column] for round_ in self.shown])
        return result.mean if result else None


@dataclass(frozen=True)
class Contents:
    run: Run
    manifest: Mapping[str, Any]
    cells: tuple[Cell, ...]
    attempts: tuple[journal.Attempt, ...]
    torn_journal: bool  # its last line was cut off, and ignored

    @property
    def name(self) -> str:
        return self.run.directory.resolve().name

    @property
    def emulated(self) -> bool:
        return self.run.fidelity_class == "emulated"

    @property
    def rounds(self) -> list[tuple[Cell, Round]]:
        return [(cell, round_) for cell in self.cells for round_ in cell.rounds]

    @property
    def valid(self) -> bool:
        return all(round_.valid for _, round_ in self.rounds)

    @property
    def failures(self) -> list[journal.Attempt]:
        return [attempt for attempt in self.attempts if attempt.status == journal.FAILED]

    def label_of(self, attempt: journal.Attempt) -> str:
        (cell,) = (cell for cell in self.cells if cell.id == attempt.cell)
        return cell.label

    @property
    def measured_iterations(self) -> int:
        return sum(len(round_.turn.measurements) for _, round_ in self.rounds)


def read_contents(directory: Path) -> Contents:
    """Raises TurntableError when the run is empty, or a file is missing or damaged."""
    run = RunDirectory(directory)
    run.plan()  # first: its error says that this is no run
    attempts = run.attempts()
    if not attempts:
        raise TurntableError(
            f"{directory}: nothing has been measured: its journal has no attempt. "
            f"Continue the run with -e run={directory.resolve().name}, or choose another"
        )
    try:
        return _read(run, attempts)
    except OSError as error:
        raise TurntableError(
            f"{error.filename}: {error.strerror}; a run needs plan.json, manifest.json, "
            "journal.ndjson and the raw files that the journal names: restore it from a copy"
        ) from None
    except json.JSONDecodeError as error:
        raise TurntableError(
            f"{directory}: a file of this run is not JSON ({error}); restore it from a copy"
        ) from None


def _read(run: RunDirectory, attempts: Sequence[journal.Attempt]) -> Contents:
    loaded = load_run(run.path)
    seconds = seconds_by_attempt(run, journal.succeeded(attempts).values())
    rounds: dict[str, list[Round]] = {}
    for turn, row in zip(loaded.turns, summarize(loaded), strict=True):
        here = {
            it.index: seconds.get((turn.turn.cell.id, turn.round, it.index), ())
            for it in turn.turn.iterations
        }
        round_ = Round(turn, row, verdict_of(loaded, turn).reasons, here)
        rounds.setdefault(turn.turn.cell.id, []).append(round_)
    reference = Reference(loaded.reference_file)
    return Contents(
        run=loaded,
        manifest=json.loads(run.manifest_file.read_bytes()),
        cells=tuple(_cell(group, loaded, reference) for group in rounds.values()),
        attempts=tuple(attempts),
        torn_journal=not run.journal_file.read_bytes().endswith(b"\n"),
    )


def _cell(rounds: Sequence[Round], run: Run, reference: Reference) -> Cell:
    parameters = rounds[0].turn.parameters
    paper = {
        column: reference.value(column, parameters)
        for column in ("normalized_throughput", "imbalance_ratio")
    }
    return Cell(
        rounds[0].turn.turn.cell.id, _label(parameters, run), parameters, tuple(rounds), paper
    )


def _label(parameters: Mapping[str, Any], run: Run) -> str:
    """workloada · nocache · 16 servers, and what else tells this cell from the others."""
    label = [parameters["workload"], parameters["method"], f"{parameters['servers']} servers"]
    label += [
        f"{name} {parameters[name]}"
        for name in differing_parameters(run)
        if name not in LABEL_PARAMETERS
    ]
    return " · ".join(label)


def differing_parameters(run: Run) -> list[str]:
    """Names of the parameters that are not the same in all cells."""
    cells = [cell.parameters for cell in run.plan.cells]
    return [name for name in cells[0] if any(cell[name] != cells[0][name] for cell in cells)]
