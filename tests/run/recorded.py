"""Writes a run directory as a play would have left it, without any raw file."""

from __future__ import annotations

from pathlib import Path

from turntable_core import journal
from turntable_core.plan import Iteration, Plan, Turn
from turntable_core.run_directory import RunDirectory


def write_run(directory: Path, plan: Plan) -> RunDirectory:
    run = RunDirectory(directory)
    run.create(plan, {"fidelity_class": "emulated"})
    return run


def record(run: RunDirectory, turn: Turn, iteration: Iteration, **fields: object) -> None:
    """One attempt, successful unless `fields` say otherwise."""
    number = run.next_attempt(turn.cell.id, turn.round, iteration.index)
    values = {"status": journal.OK, "began_at_ns": 0, "ended_at_ns": 1} | fields
    attempt = journal.Attempt(turn.cell.id, turn.round, iteration.index, number, **values)
    journal.append(run.journal_file, attempt)


def record_failure(run: RunDirectory, turn: Turn, iteration: Iteration) -> None:
    failed = {"status": journal.FAILED, "failure_class": "timeout", "message": "made up"}
    record(run, turn, iteration, **failed)
