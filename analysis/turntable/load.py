"""A run directory -> what was planned and what every iteration measured.

Knows files; turntable.raw knows their fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntable.measurement import Measurement
from turntable.raw import read_answers
from turntable_core import journal
from turntable_core.plan import Plan, Prediction, Turn
from turntable_core.run_directory import RunDirectory

# The published numbers are part of this repository, not of a run.
EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@dataclass(frozen=True)
class TurnData:
    """One round of a cell: the plan's turn and the iterations that succeeded, in order."""

    turn: Turn
    measurements: tuple[Measurement, ...]
    failed_attempts: int

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.turn.cell.parameters

    @property
    def prediction(self) -> Prediction:
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


@dataclass(frozen=True)
class Run:
    directory: Path
    plan: Plan
    fidelity_class: str
    turns: tuple[TurnData, ...]

    @property
    def reference_file(self) -> Path | None:
        return EXPERIMENTS / self.plan.reference if self.plan.reference else None


def load_run(directory: Path) -> Run:
    run = RunDirectory(directory)
    plan, attempts = run.plan(), run.attempts()
    manifest = json.loads(run.manifest_file.read_bytes())
    done = journal.succeeded(attempts)
    turns = []
    for turn in plan.turns:
        keys = [(turn.cell.id, turn.round, iteration.index) for iteration in turn.iterations]
        measurements = tuple(read_measurement(run, turn, done[key]) for key in keys if key in done)
        failed = sum(
            attempt.key in keys and attempt.status == journal.FAILED for attempt in attempts
        )
        turns.append(TurnData(turn, measurements, failed))
    return Run(directory, plan, manifest["fidelity_class"], tuple(turns))


def read_measurement(run: RunDirectory, turn: Turn, attempt: journal.Attempt) -> Measurement:
    """One successful attempt's raw files. Raises TurntableError when one is damaged."""
    partitions = turn.iterations[attempt.iteration].partitions
    answers = [
        answer
        for name, content in run.read_raw(attempt).items()
        if name != "iteration"
        for answer in content["answers"]
    ]
    return read_answers(answers, attempt.iteration, tuple(partitions), attempt.overhead_s)
