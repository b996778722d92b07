"""Begins an attempt at an iteration, and records how it ended.

    attempt: {at: {run: DIR, cell: ID, round: 0, iteration: 3}, state: begun}        -> number,
    directory, began_at_ns attempt: {at: …, state: ok, number: 1, began_at_ns: N, start_at_ns: N}
    -> progress attempt: {at: …, state: failed, number: 1, began_at_ns: N, failure_class: C,
    message: TEXT} -> progress, retry

The overhead of an attempt is its wall time less warm-up and measuring; wall time runs from the end
of the attempt before it in the same play (so that nothing between two attempts is left out), or
from its beginning.
"""

from __future__ import annotations

import time
from typing import Any

from turntable.progress import progress_of
from turntable_core import files, journal
from turntable_core.errors import PhaseError
from turntable_core.plan import Turn
from turntable_core.run_action import AT_ARGUMENT, RunAction
from turntable_core.run_directory import RunDirectory

# So many failed attempts in a row are not bad luck: the run is given up and can be continued with
# -e run=ID.
GIVE_UP_AFTER = 4


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT | {
        "state": {"type": "str", "choices": ["begun", "ok", "failed"], "required": True},
        "number": {"type": "int"},
        "began_at_ns": {"type": "int"},
        "start_at_ns": {"type": "int"},
        "failure_class": {"type": "str", "default": "internal"},
        "message": {"type": "str"},
        "max_attempts": {"type": "int", "default": 1},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        at = arguments["at"]
        run = RunDirectory(at["run"])
        key = (at["cell"], at["round"], at["iteration"])
        if arguments["state"] == "begun":
            number = run.next_attempt(*key)
            directory = run.path / journal.attempt_directory(*key, number)
            directory.mkdir(parents=True)
            return {
                "changed": True,
                "number": number,
                "directory": str(directory),
                "began_at_ns": time.time_ns(),
            }
        return _record(run, key, arguments)


def _record(
    run: RunDirectory, key: tuple[str, int, int], arguments: dict[str, Any]
) -> dict[str, Any]:
    plan, attempts = run.plan(), run.attempts()
    turn = plan.turn(key[0], key[1])
    ok = arguments["state"] == "ok"
    number, began_at_ns = arguments["number"], arguments["began_at_ns"]
    directory = run.path / journal.attempt_directory(*key, number)
    if ok:
        files.write_once(
            directory / "iteration.json", files.to_json(_description(turn, key, arguments))
        )
    ended_at_ns = time.time_ns()
    attempt = journal.Attempt(
        *key,
        attempt=number,
        status=journal.OK if ok else journal.FAILED,
        began_at_ns=began_at_ns,
        ended_at_ns=ended_at_ns,
        overhead_s=_overhead_s(turn, attempts, began_at_ns, ended_at_ns) if ok else None,
        failure_class=None if ok else arguments["failure_class"],
        message=None if ok else arguments["message"],
        files={path.name: files.digest_of_file(path) for path in sorted(directory.glob("*.json"))},
    )
    journal.append(run.journal_file, attempt)
    attempts.append(attempt)
    if not ok and _failures_in_a_row(attempts) >= GIVE_UP_AFTER:
        raise PhaseError(
            attempt.failure_class,
            f"{GIVE_UP_AFTER} attempts in a row failed; the run is given up. Continue it with "
            f"-e run={run.path.name} when the cause is mended. The last failure: {attempt.message}",
        )
    retry = not ok and number < arguments["max_attempts"]
    return {
        "changed": True,
        "progress": progress_of(run.path, plan, turn, attempts),
        "retry": retry,
    }


def _description(
    turn: Turn, key: tuple[str, int, int], arguments: dict[str, Any]
) -> dict[str, Any]:
    return {
        "format": 1,
        "cell": key[0],
        "round": key[1],
        "iteration": key[2],
        "attempt": arguments["number"],
        "partitions": turn.iterations[key[2]].partitions,
        "start_at_ns": arguments["start_at_ns"],
    }


def _overhead_s(
    turn: Turn, attempts: list[journal.Attempt], began_at_ns: int, ended_at_ns: int
) -> float:
    """The attempt before counts as the beginning only if it is of the same turn and not of an
    earlier play.
    """
    parameters = turn.cell.parameters
    last = attempts[-1] if attempts else None
    gap_ns = (
        began_at_ns - last.ended_at_ns
        if last and last.key[:2] == (turn.cell.id, turn.round)
        else None
    )
    same_play = gap_ns is not None and 0 <= gap_ns < 5_000_000_000
    wall_s = (ended_at_ns - (last.ended_at_ns if same_play else began_at_ns)) / 1e9
    return round(wall_s - parameters["warmup_s"] - parameters["measure_s"], 4)


def _failures_in_a_row(attempts: list[journal.Attempt]) -> int:
    count = 0
    for attempt in reversed(attempts):
        if attempt.status == journal.OK:
            break
        count += 1
    return count
