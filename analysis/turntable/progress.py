"""Where a running run stands: what the progress line shows after every attempt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from turntable.load import read_measurement
from turntable.verdict import utilization
from turntable_core import journal
from turntable_core.plan import Plan, Turn
from turntable_core.run_directory import RunDirectory


def progress_of(
    directory: Path, plan: Plan, turn: Turn, attempts: Sequence[journal.Attempt]
) -> dict[str, Any]:
    """About the last attempt of the journal. ops_per_s and utilization are None when it failed."""
    last = attempts[-1]
    iteration = turn.iterations[last.iteration]
    done = len(journal.succeeded(attempts))
    result: dict[str, Any] = {
        "done": done,
        "total": plan.iteration_count,
        "workload": turn.cell.parameters["workload"],
        "method": turn.cell.parameters["method"],
        "servers": turn.cell.parameters["servers"],
        "round": turn.round,
        "partitions": iteration.partitions,
        "status": last.status,
        "failure_class": last.failure_class,
        "attempt": last.attempt,
        "ops_per_s": None,
        "utilization": None,
        "eta_s": _eta_s(plan, attempts, done),
    }
    if last.status == journal.OK:
        measurement = read_measurement(RunDirectory(directory), turn, last)
        result["ops_per_s"] = measurement.ops_per_s
        result["utilization"] = utilization(measurement, turn.cell.parameters["capacity_ops_per_s"])
    return result


def _eta_s(plan: Plan, attempts: Sequence[journal.Attempt], done: int) -> float:
    """What is left at the nominal length of an iteration and the overhead seen so far."""
    overheads = [attempt.overhead_s for attempt in attempts if attempt.overhead_s is not None]
    overhead_s = fmean(overheads) if overheads else 1.0
    finished = journal.succeeded(attempts)
    left_s = 0.0
    for turn in plan.turns:
        parameters = turn.cell.parameters
        open_iterations = sum(
            (turn.cell.id, turn.round, it.index) not in finished for it in turn.iterations
        )
        left_s += open_iterations * (parameters["warmup_s"] + parameters["measure_s"] + overhead_s)
    return left_s
