"""A run directory -> what was planned and what every iteration measured.

Knows files; turntable.raw knows their fields. A raw file that is missing, or is not what the
journal recorded, makes its iteration a gap that says why: the rest of the run still counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turntable.measurement import Measurement
from turntable.raw import COLLECT, RawAnswer, read_answers
from turntable.seconds import Second, read_seconds
from turntable_core import journal
from turntable_core.errors import TurntableError
from turntable_core.plan import Plan, Prediction, Turn
from turntable_core.run_directory import RunDirectory

if TYPE_CHECKING:
    from turntable.cells import Cell

# The published numbers are part of this repository, not of a run.
EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"

UNKNOWN = "unknown"  # fidelity class without a manifest


class DamagedFileError(TurntableError):
    """A raw file is missing, unreadable or changed."""


@dataclass(frozen=True)
class TurnData:
    """One round of a cell: the plan's turn and the iterations that succeeded, in order."""

    turn: Turn
    measurements: tuple[Measurement, ...]
    failed_attempts: int
    seconds: Mapping[int, tuple[Second, ...]]  # by iteration
    damage: tuple[str, ...]  # of iterations that succeeded and cannot be read any more

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


@dataclass(frozen=True, eq=False)
class Run:
    directory: Path
    plan: Plan
    manifest: Mapping[str, Any]  # empty if there is none that can be read
    turns: tuple[TurnData, ...]
    attempts: tuple[journal.Attempt, ...]
    torn_journal: bool  # its last line was cut off, and ignored

    @property
    def name(self) -> str:
        return self.directory.resolve().name

    @property
    def fidelity_class(self) -> str:
        return self.manifest.get("fidelity_class", UNKNOWN)

    @property
    def emulated(self) -> bool:
        return self.fidelity_class == "emulated"

    @property
    def reference_file(self) -> Path | None:
        return EXPERIMENTS / self.plan.reference if self.plan.reference else None

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Rounds judged and grouped by cell, as reports and plots show them."""
        from turntable.cells import cells_of  # noqa: PLC0415  (it builds on this module)

        return cells_of(self)


def load_run(directory: Path | str, only: Turn | None = None) -> Run:
    """The run in results/<experiment>/<run>, or one turn of it.

    Raises TurntableError when it has no readable plan or journal.
    """
    run = RunDirectory(directory)
    plan, attempts = _plan(run), run.attempts()
    done = journal.succeeded(attempts)
    return Run(
        directory=run.path,
        plan=plan,
        manifest=_manifest(run),
        turns=tuple(
            _load_turn(run, turn, attempts, done) for turn in plan.turns if only in (None, turn)
        ),
        attempts=tuple(attempts),
        torn_journal=bool(attempts) and not run.journal_file.read_bytes().endswith(b"\n"),
    )


def load_runs(directories: Iterable[Path | str] | Path | str) -> list[Run]:
    """Every one of the directories; of a single directory all runs below it, by name.

    load_runs("results/farreach_exp01_throughput"), load_runs([one, another])
    """
    if isinstance(directories, str | Path):
        found = sorted(path.parent for path in Path(directories).glob("**/plan.json"))
        if not found:
            raise TurntableError(f"{directories}: no run in or below it: no plan.json")
        return [load_run(directory) for directory in found]
    return [load_run(directory) for directory in directories]


def read_measurement(run: RunDirectory, turn: Turn, attempt: journal.Attempt) -> Measurement:
    """One successful attempt's raw files. Raises DamagedFileError."""
    return _measurement(turn, attempt, _answers(run, attempt))


def _load_turn(
    run: RunDirectory,
    turn: Turn,
    attempts: Iterable[journal.Attempt],
    done: Mapping[tuple[str, int, int], journal.Attempt],
) -> TurnData:
    measurements, seconds, damage = [], {}, []
    keys = [(turn.cell.id, turn.round, iteration.index) for iteration in turn.iterations]
    for attempt in (done[key] for key in keys if key in done):
        try:
            answers = _answers(run, attempt)
        except DamagedFileError as error:
            damage.append(str(error))
            continue
        measurements.append(_measurement(turn, attempt, answers))
        clients = [
            answer.result
            for answer in answers
            if (answer.node, answer.command) == ("kvclient", "stats")
        ]
        seconds[attempt.iteration] = read_seconds(clients)
    failed = sum(attempt.key in keys and attempt.status == journal.FAILED for attempt in attempts)
    return TurnData(turn, tuple(measurements), failed, seconds, tuple(damage))


def _measurement(turn: Turn, attempt: journal.Attempt, answers: list[RawAnswer]) -> Measurement:
    partitions = turn.iterations[attempt.iteration].partitions
    return read_answers(answers, attempt.iteration, tuple(partitions), attempt.overhead_s)


def _answers(run: RunDirectory, attempt: journal.Attempt) -> list[RawAnswer]:
    """Of all hosts, from files that are what the journal recorded."""
    contents = [
        _read_checked(run, f"{attempt.directory}/{name}", digest)
        for name, digest in attempt.files.items()
        if name != "iteration.json"
    ]
    return [
        # Files without a phase are of before `begin` was kept.
        RawAnswer(content["host"], content.get("phase", COLLECT), **answer)
        for content in contents
        for answer in content["answers"]
    ]


def _read_checked(run: RunDirectory, name: str, digest: str) -> Mapping[str, Any]:
    """name: relative to the run's directory."""
    try:
        data = (run.path / name).read_bytes()
    except OSError as error:
        raise DamagedFileError(f"{name}: {error.strerror}") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise DamagedFileError(f"{name}: not what the journal recorded (SHA-256 {digest[:12]}…)")
    return json.loads(data)


def _plan(run: RunDirectory) -> Plan:
    try:
        return run.plan()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TurntableError(
            f"{run.plan_file}: cannot be read ({type(error).__name__}: {error}). It says what the "
            "raw files are about: restore it from a copy"
        ) from None


def _manifest(run: RunDirectory) -> Mapping[str, Any]:
    """Empty when it is missing or damaged: numbers do not depend on it, their use does."""
    try:
        manifest = json.loads(run.manifest_file.read_bytes())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}
