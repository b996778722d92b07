"""Where a running run stands, after every attempt: what the lines that follow it show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from turntable.load import load_run
from turntable.measurement import Measurement
from turntable.system import analysis_of
from turntable_core import journal, labels
from turntable_core.journal import Attempt
from turntable_core.plan import Iteration, Plan, Turn

Work = Sequence[tuple[Turn, Iteration]]


def standing_of(
    directory: Path,
    plan: Plan,
    turn: Turn,
    work: Work,
    attempts: Sequence[Attempt],
    measured: Measurement | None,
    will_retry: bool,
) -> dict[str, Any]:
    """About the last attempt, and what it measured if it succeeded. work, attempts: of this play.
    `result` is None until the turn is over; `facts` are [rank, text], as
    turntable_core.terminal_lines.fitting takes them.
    """
    last = attempts[-1]
    iteration = turn.iterations[last.iteration]
    left = _left(work, attempts)
    over = not will_retry and iteration == _last_of(turn, work)
    return {
        "label": labels.of_turn(plan, turn),
        "turn": [turn.cell.id, turn.round],
        "done": len(turn.iterations) - sum(other is turn for other, _ in left),
        "total": len(turn.iterations),
        "iteration": iteration.index,
        "iteration_label": iteration.label,
        "status": last.status,
        "failure_class": last.failure_class,
        "message": last.message,
        "disturbed": last.disturbed,
        "attempt": last.attempt,
        "facts": _facts(plan, turn, measured),
        "eta_s": _eta_s(plan, left, attempts),
        "result": _result(directory, turn, attempts) if over else None,
    }


def _last_of(turn: Turn, work: Work) -> Iteration:
    return [iteration for other, iteration in work if other is turn][-1]


def _left(work: Work, attempts: Sequence[Attempt]) -> list[tuple[Turn, Iteration]]:
    done = journal.settled(attempts) | journal.refused(attempts).keys()
    return [
        (turn, iteration)
        for turn, iteration in work
        if (turn.cell.id, turn.round, iteration.index) not in done
    ]


def _facts(plan: Plan, turn: Turn, measured: Measurement | None) -> list[list[Any]]:
    if measured is None:
        return []
    return [list(fact) for fact in analysis_of(plan).facts(measured, turn.cell.parameters)]


def _eta_s(plan: Plan, left: Work, attempts: Sequence[Attempt]) -> float:
    """What is left at the nominal length of an iteration and the overhead seen so far."""
    overheads = [attempt.overhead_s for attempt in attempts if attempt.overhead_s is not None]
    overhead_s = fmean(overheads) if overheads else 1.0
    return sum(plan.system.windows(turn.cell.parameters).loaded_s + overhead_s for turn, _ in left)


def _result(directory: Path, turn: Turn, attempts: Sequence[Attempt]) -> dict[str, Any]:
    """Of one turn, from its raw files like every other result."""
    run = load_run(directory, lambda other: other == turn)
    (row,) = run.rows
    return {
        "facts": [list(fact) for fact in analysis_of(run.plan).result_facts(row)],
        **{
            name: row[name]
            for name in ("verdict", "iterations_failed", "iterations_repeated", "retries")
        },
        "seconds": _seconds(turn, attempts),
    }


def _seconds(turn: Turn, attempts: Sequence[Attempt]) -> float:
    """From the turn's first attempt of this play to its last."""
    own = [attempt for attempt in attempts if attempt.key[:2] == (turn.cell.id, turn.round)]
    return (own[-1].ended_at_ns - own[0].began_at_ns) / 1e9
