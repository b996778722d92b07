"""Whether a turn is still needed: the rounds before it may know all results precisely enough.

Documented in plugins/modules/ask_turn.py.
"""

from __future__ import annotations

from typing import Any

from turntable.precision import is_needed
from turntable_core import labels
from turntable_core.plan import Plan, Turn
from turntable_core.plan_limits import LEAST_ROUNDS
from turntable_core.run_action import AT_ARGUMENT, RunAction
from turntable_core.run_directory import RunDirectory


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT | {"only": {"type": "str"}}

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        at = arguments["at"]
        run = RunDirectory(at["run"])
        plan = run.plan()
        turn = plan.turn(at["cell"], at["round"])
        may_skip = plan.precision and turn.round >= LEAST_ROUNDS and not arguments["only"]
        if may_skip and (turn.cell.id, turn.round) in run.skipped():
            return {"changed": False, "needed": False}
        if not may_skip or _is_begun(run, turn) or is_needed(run.path, turn):
            return {"changed": False, "needed": True}
        return {"changed": True, "needed": False, "report": _skip(run, plan, turn)}


def _skip(run: RunDirectory, plan: Plan, turn: Turn) -> str:
    """A turn and the rounds after it, which would tell nothing else; returns a line about it."""
    rounds = [
        other.round
        for other in plan.turns
        if other.cell.id == turn.cell.id and other.round >= turn.round and not _is_begun(run, other)
    ]
    for round_ in rounds:
        run.skip(turn.cell.id, round_)
    label = labels.of_cell(plan, turn.cell.parameters)
    return f"{label}: known precisely enough after {turn.round} rounds, of at most {plan.rounds}"


def _is_begun(run: RunDirectory, turn: Turn) -> bool:
    """What has been begun is completed, or it would be missing."""
    return any(attempt.key[:2] == (turn.cell.id, turn.round) for attempt in run.attempts())
