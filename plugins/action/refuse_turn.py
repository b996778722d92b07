"""Ends a turn that could not be configured: what is left of it is refused where the testbed cannot
do it, any other failure goes on.

Documented in plugins/modules/refuse_turn.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, ClassVar

from turntable.standing import standing_of
from turntable_core import journal, selection
from turntable_core.errors import UNSUPPORTED
from turntable_core.estimate import Work
from turntable_core.journal import FAILED, REFUSED, Attempt
from turntable_core.plan import Iteration, Turn
from turntable_core.run_action import AT_ARGUMENT, PLAY_ARGUMENTS, RunAction, failure
from turntable_core.run_directory import RunDirectory


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        **AT_ARGUMENT,
        **PLAY_ARGUMENTS,
        "failure": {"type": "dict", "required": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        failure_class = arguments["failure"].get("failure_class", "internal")
        message = str(arguments["failure"].get("msg", "no message"))
        if failure_class != UNSUPPORTED:
            return failure(message) | {"failure_class": failure_class, "told_before": True}
        run = RunDirectory(arguments["at"]["run"])
        plan, attempts = run.plan(), run.attempts()
        turn = plan.turn(arguments["at"]["cell"], arguments["at"]["round"])
        earlier = attempts[: arguments["earlier_attempts"]]
        of_this_play = attempts[len(earlier) :]
        only, repeats = arguments["only"], arguments["repeats"]
        work = selection.work(plan, earlier, only, run.skipped(), repeats=repeats)
        left = _left(turn, work, of_this_play)
        refused = [_refuse(run, turn, iteration, message) for iteration in left]
        result = {"changed": True, "needed": False, "afresh": work[-1][0] is not turn}
        if not refused:
            return result
        attempts = [*of_this_play, *refused]
        return result | {"progress": standing_of(run.path, plan, turn, work, attempts, None, False)}


def _left(turn: Turn, work: Work, of_this_play: Iterable[Attempt]) -> list[Iteration]:
    """What this play is to measure of the turn, and has not; what failed is tried no more."""
    done = {attempt.key for attempt in of_this_play if attempt.status != FAILED}
    return [
        iteration
        for other, iteration in work
        if other is turn and (turn.cell.id, turn.round, iteration.index) not in done
    ]


def _refuse(run: RunDirectory, turn: Turn, iteration: Iteration, message: str) -> Attempt:
    key, now = (turn.cell.id, turn.round, iteration.index), time.time_ns()
    attempt = Attempt(
        *key,
        attempt=run.next_attempt(*key),
        status=REFUSED,
        began_at_ns=now,
        ended_at_ns=now,
        failure_class=UNSUPPORTED,
        message=message,
    )
    journal.append(run.journal_file, attempt)
    return attempt
