"""What the report over several experiments says of each of them, from the files of its run."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from turntable.load import load_run
from turntable.overview.published import NOT_COMPARABLE, Statement, statements
from turntable.report.page import FILE_NAME, render, write_page
from turntable.results import NOT_AVAILABLE, Run
from turntable_core import journal, plays
from turntable_core.errors import TurntableError
from turntable_core.plays import Span
from turntable_core.series import Series, Step

VALID, IN_PART, INVALID, INCOMPLETE = "valid", "valid in part", "invalid", "incomplete"
NOT_BEGUN, FAILED = "not begun", "failed"


@dataclass(frozen=True)
class Part:
    """One experiment."""

    step: Step
    directory: Path  # of its run
    state: str
    text: str  # why, where it is not valid
    run: Run | None = None  # None: not begun, or no run as others
    statements: list[Statement] = field(default_factory=list)

    @property
    def title(self) -> str:
        return self.run.plan.title if self.run else self.step.title or self.step.experiment

    @property
    def page(self) -> Path | None:
        path = self.directory / FILE_NAME
        return path if path.exists() else None

    @cached_property
    def own_ns(self) -> list[int]:
        """Instants of what this run measured itself."""
        if self.run is None or self.run.imported:
            return []
        own = [a for a in self.run.attempts if a.taken_from is None]
        return [at_ns for a in own for at_ns in (a.began_at_ns, a.ended_at_ns)]

    @property
    def spans(self) -> list[Span]:
        return plays.spans(self.directory, self.own_ns)

    @property
    def wall_s(self) -> float:
        return plays.seconds(self.spans)

    @cached_property
    def measured_s(self) -> float:
        """Windows that count, of what this run measured itself; imported ones were not."""
        if self.run is None or self.run.imported:
            return 0.0
        parameters = {cell.id: cell.parameters for cell in self.run.plan.cells}
        windows = self.run.plan.system.windows
        return sum(
            windows(parameters[attempt.cell]).measure_s
            for attempt in journal.succeeded(self.run.attempts).values()
            if attempt.taken_from is None
        )

    @property
    def measured(self) -> int:
        """Iterations, by this run itself."""
        done = journal.succeeded(self.run.attempts).values() if self.run else ()
        return sum(attempt.taken_from is None for attempt in done)

    @property
    def taken(self) -> int:
        done = journal.succeeded(self.run.attempts) if self.run else ()
        return len(done) - self.measured

    @property
    def planned(self) -> int:
        return self.run.plan.iteration_count if self.run else 0


def parts_of(series: Series, steps: list[Step]) -> list[Part]:
    failures = series.failures()
    return [_part(series, step, failures.get(step.experiment)) for step in steps]


def _part(series: Series, step: Step, failure: str | None) -> Part:
    directory = series.results / step.id / series.run
    try:
        run = load_run(directory) if (directory / "plan.json").exists() else None
    except TurntableError as error:
        return Part(step, directory, FAILED, str(error))
    if run is None or not run.attempts:
        state, text = _without_run(directory) if run is None else (NOT_BEGUN, "")
        said = [Statement(step.title, NOT_COMPARABLE, step.note)] if step.note else []
        state, text = (FAILED, failure) if failure and state != VALID else (state, text)
        return Part(step, directory, state, text, statements=said)
    if not (directory / FILE_NAME).exists():
        write_page(run, render(run))
    state, text = _state(run)
    if failure and state != VALID:
        state, text = FAILED, f"{failure}; {text}"
    return Part(step, directory, state, text, run, statements(run))


def _without_run(directory: Path) -> tuple[str, str]:
    """Of a step that is no run, by the verdicts of its table."""
    try:
        with (directory / "summary.csv").open(newline="", encoding="utf-8") as lines:
            verdicts = [row["verdict"] for row in csv.DictReader(lines)]
    except (OSError, KeyError):
        return NOT_BEGUN, ""
    wrong = [verdict for verdict in verdicts if verdict != "valid"]
    return (INVALID, "; ".join(wrong)) if wrong else (VALID, "")


def _state(run: Run) -> tuple[str, str]:
    turns = run.judged
    if not turns:
        reasons = (cell.not_available for cell in run.cells)
        return NOT_AVAILABLE, "; ".join(dict.fromkeys(reason for reason in reasons if reason))
    valid = sum(turn.valid for turn in turns)
    if valid == len(turns):
        return VALID, ""
    text = f"{valid} of {len(turns)} rounds valid"
    if not all(turn.complete for turn in turns):
        missing = sum(len(turn.missing) for turn in turns)
        return INCOMPLETE, f"{text}, {missing} iterations missing"
    first = next(turn for turn in turns if not turn.valid)
    label = next(cell.label for cell in run.cells if first in cell.turns).replace(" · ", " ")
    text += f"; {label}: {first.reasons[0]}"
    return (IN_PART if valid else INVALID), text
