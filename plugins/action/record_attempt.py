"""Closes an attempt: a line in the journal and, if it succeeded, iteration.json beside its files.

Documented in plugins/modules/record_attempt.py.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, ClassVar

from turntable.load import disturbance, read_measurement
from turntable.measurement import Measurement
from turntable.standing import standing_of
from turntable_core import files, journal, selection, timeline
from turntable_core.errors import UNSUPPORTED, PhaseError
from turntable_core.estimate import Work
from turntable_core.journal import FAILED, OK, REFUSED, Attempt
from turntable_core.plan import Plan, Turn
from turntable_core.run_action import AT_ARGUMENT, PLAY_ARGUMENTS, RunAction
from turntable_core.run_directory import RunDirectory

# So many failed attempts in a row are not bad luck.
GIVE_UP_AFTER = 4


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        **AT_ARGUMENT,
        **PLAY_ARGUMENTS,
        "number": {"type": "int", "required": True},
        "began_at_ns": {"type": "int", "required": True},
        "status": {"type": "str", "choices": [OK, FAILED], "required": True},
        "start_at_ns": {"type": "int"},
        "failure_class": {"type": "str"},
        "message": {"type": "str"},
        "max_attempts": {"type": "int", "default": 1},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        run = RunDirectory(arguments["at"]["run"])
        plan, attempts = run.plan(), run.attempts()
        turn = plan.turn(arguments["at"]["cell"], arguments["at"]["round"])
        began = arguments["earlier_attempts"]
        earlier, of_this_play = attempts[:began], attempts[began:]
        attempt = _close(run, plan, turn, of_this_play, arguments)
        # Counted over all plays: one may have been killed before its own.
        is_due = journal.repetitions_due(attempts, attempt.key) < arguments["repeats"]
        may_repeat = is_due and not journal.are_repeats_in_vain(of_this_play, attempt.key[:2])
        attempt, measured = _record(run, plan, turn, attempt, may_repeat)
        of_this_play.append(attempt)
        if _failures_in_a_row(of_this_play) >= GIVE_UP_AFTER:
            raise PhaseError(
                attempt.failure_class,
                f"{GIVE_UP_AFTER} attempts in a row failed; the run is given up. Continue it with "
                f"-e run={run.path.name} when the cause is mended. The last failure: "
                f"{attempt.message}",
            )
        again = attempt.repeat or _retries(attempt, of_this_play, arguments)
        only, repeats = arguments["only"], arguments["repeats"]
        work = selection.work(plan, earlier, only, run.skipped(), repeats=repeats)
        progress = standing_of(run.path, plan, turn, work, of_this_play, measured, again)
        refused = attempt.status == REFUSED
        result = {"changed": True, "progress": progress, "again": again, "refused": refused}
        return result | _before_the_next(plan, attempt, again or not _is_last(attempt, work))


def _record(
    run: RunDirectory, plan: Plan, turn: Turn, attempt: Attempt, may_repeat: bool
) -> tuple[Attempt, Measurement | None]:
    """What has been measured is recorded, however it is judged. What cannot be read is no
    measurement: the error makes it a failed attempt (playbooks/tasks/iteration.yml).
    """
    measured = None
    if attempt.status == OK:
        measured = read_measurement(run, plan, turn, attempt)
        disturbed = _disturbance(run, plan, turn, measured)
        repeat = may_repeat and disturbed is not None
        attempt = replace(attempt, disturbed=disturbed, repeat=repeat)
    journal.append(run.journal_file, attempt)
    return attempt, measured


def _is_last(attempt: Attempt, work: Work) -> bool:
    turn, iteration = work[-1]
    return attempt.key == (turn.cell.id, turn.round, iteration.index)


def _before_the_next(plan: Plan, attempt: Attempt, goes_on: bool) -> dict[str, bool]:
    """What makes it begin as any other; after a refusal nodes are as they were. goes_on: something
    is measured after this attempt.
    """
    afresh = attempt.status == FAILED or timeline.restarts_nodes(plan.timeline)
    heal = not afresh and timeline.impairs_links(plan.timeline)
    return {"afresh": goes_on and afresh, "heal": goes_on and heal}


def _disturbance(run: RunDirectory, plan: Plan, turn: Turn, measured: Measurement) -> str | None:
    """A rule that fails on one iteration alone may still judge the round."""
    try:
        return disturbance(run, plan, turn, measured)
    except Exception:
        return None


def _retries(attempt: Attempt, of_this_play: list[Attempt], arguments: dict[str, Any]) -> bool:
    if attempt.status != FAILED:
        return False
    tries = [other for other in of_this_play if other.key == attempt.key]
    return sum(other.status == FAILED for other in tries) < arguments["max_attempts"]


def _close(
    run: RunDirectory, plan: Plan, turn: Turn, earlier: list[Attempt], arguments: dict[str, Any]
) -> Attempt:
    iteration, ok = turn.iterations[arguments["at"]["iteration"]], arguments["status"] == OK
    key = (turn.cell.id, turn.round, iteration.index)
    directory = run.path / journal.attempt_directory(*key, arguments["number"])
    if ok:
        description = {
            "format": 1,
            "label": iteration.label,
            "data": iteration.data,
            "start_at_ns": arguments["start_at_ns"],
        }
        files.write_once(directory / "iteration.json", files.to_compact_json(description))
    refused = not ok and arguments["failure_class"] == UNSUPPORTED
    times = {"began_at_ns": arguments["began_at_ns"], "ended_at_ns": time.time_ns()}
    return Attempt(
        *key,
        attempt=arguments["number"],
        status=REFUSED if refused else arguments["status"],
        **times,
        overhead_s=_overhead_s(plan, turn, earlier, **times) if ok else None,
        failure_class=None if ok else arguments["failure_class"],
        message=None if ok else arguments["message"],
        files={path.name: files.digest_of_file(path) for path in sorted(directory.glob("*.json"))},
    )


def _overhead_s(
    plan: Plan, turn: Turn, earlier: list[Attempt], began_at_ns: int, ended_at_ns: int
) -> float:
    loaded_s = plan.system.windows(turn.cell.parameters).loaded_s
    if earlier and earlier[-1].key[:2] == (turn.cell.id, turn.round):
        began_at_ns = earlier[-1].ended_at_ns
    wall_s = (ended_at_ns - began_at_ns) / 1e9
    return round(wall_s - loaded_s, 4)


def _failures_in_a_row(attempts: list[Attempt]) -> int:
    """What was refused says nothing about the others."""
    count = 0
    for attempt in reversed(attempts):
        if attempt.status == OK:
            break
        count += attempt.status == FAILED
    return count
