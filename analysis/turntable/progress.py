"""Where a running run stands, after every attempt: what the progress lines show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from turntable.load import load_run, read_measurement
from turntable.rules import utilization
from turntable.summary import summarize
from turntable_core import journal, labels
from turntable_core.journal import Attempt
from turntable_core.plan import Iteration, Plan, Turn
from turntable_core.run_directory import RunDirectory

Work = Sequence[tuple[Turn, Iteration]]

# What a line says of a turn that is over: columns of summary.csv.
RESULTS = (
    "aggregate_ops_per_s",
    "normalized_throughput",
    "imbalance_ratio",
    "busiest_utilization",
    "iterations_failed",
    "retries",
    "verdict",
)


def progress_of(
    directory: Path,
    plan: Plan,
    turn: Turn,
    work: Work,
    attempts: Sequence[Attempt],
    will_retry: bool,
) -> dict[str, Any]:
    """About the last attempt.

    work: what this play measures; attempts: of this play. ops_per_s and utilization are None when
    the attempt failed, `result` is until its turn is over.
    """
    last = attempts[-1]
    iteration = turn.iterations[last.iteration]
    left = _left(work, attempts)
    left_of_turn = sum(other is turn for other, _ in left)
    result: dict[str, Any] = {
        "label": labels.of_turn(plan, turn),
        "turn": [turn.cell.id, turn.round],
        "done": len(turn.iterations) - left_of_turn,
        "total": len(turn.iterations),
        "iteration": iteration.index,
        "partitions": iteration.partitions,
        "status": last.status,
        "failure_class": last.failure_class,
        "attempt": last.attempt,
        "ops_per_s": None,
        "utilization": None,
        "eta_s": _eta_s(left, attempts),
        "result": None,
    }
    if last.status == journal.OK:
        measurement = read_measurement(RunDirectory(directory), turn, last)
        result["ops_per_s"] = measurement.ops_per_s
        result["utilization"] = utilization(measurement, turn.cell.parameters["capacity_ops_per_s"])
    if not will_retry and iteration == _last_of(turn, work):
        result["result"] = _result(directory, turn) | {"seconds": _seconds(turn, attempts)}
    return result


def _last_of(turn: Turn, work: Work) -> Iteration:
    return [iteration for other, iteration in work if other is turn][-1]


def _left(work: Work, attempts: Sequence[Attempt]) -> list[tuple[Turn, Iteration]]:
    done = journal.succeeded(attempts)
    return [
        (turn, iteration)
        for turn, iteration in work
        if (turn.cell.id, turn.round, iteration.index) not in done
    ]


def _eta_s(left: Work, attempts: Sequence[Attempt]) -> float:
    """What is left at the nominal length of an iteration and the overhead seen so far."""
    overheads = [attempt.overhead_s for attempt in attempts if attempt.overhead_s is not None]
    overhead_s = fmean(overheads) if overheads else 1.0
    windows = (turn.cell.parameters for turn, _ in left)
    return sum(
        parameters["warmup_s"] + parameters["measure_s"] + overhead_s for parameters in windows
    )


def _result(directory: Path, turn: Turn) -> dict[str, Any]:
    """Of one turn, from its raw files like every other result."""
    (row,) = summarize(load_run(directory, turn))
    return {name: row[name] for name in RESULTS}


def _seconds(turn: Turn, attempts: Sequence[Attempt]) -> float:
    """From the turn's first attempt of this play to its last."""
    own = [attempt for attempt in attempts if attempt.key[:2] == (turn.cell.id, turn.round)]
    return (own[-1].ended_at_ns - own[0].began_at_ns) / 1e9
