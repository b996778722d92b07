"""Whether a turn is still needed: the rounds before it may know all results precisely enough, or
have found that the testbed cannot do it.

Documented in plugins/modules/ask_turn.py.
"""

from __future__ import annotations

from typing import Any

from turntable.precision import is_needed
from turntable_core import journal, labels
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
        reason = _refusal(run, plan, turn, arguments["only"])
        may_skip = plan.precision and turn.round >= LEAST_ROUNDS and not arguments["only"]
        if (reason or may_skip) and (turn.cell.id, turn.round) in run.skipped():
            return {"changed": False, "needed": False}
        if reason:
            return {"changed": True, "needed": False, "report": _refuse(run, plan, turn, reason)}
        if not may_skip or _is_begun(run, turn) or is_needed(run.path, turn):
            return {"changed": False, "needed": True}
        return {"changed": True, "needed": False, "report": _skip(run, plan, turn)}


def _refusal(run: RunDirectory, plan: Plan, turn: Turn, only: str | None) -> str | None:
    """Why all of the cell was refused in another round, of a turn that nobody has begun."""
    if only or _is_begun(run, turn):
        return None
    return journal.reason_of_cell(plan, run.attempts(), turn.cell.id)


def _refuse(run: RunDirectory, plan: Plan, turn: Turn, reason: str) -> str:
    _skip_from(run, plan, turn)
    label = labels.of_cell(plan, turn.cell.parameters)
    return f"{label}: round {turn.round} and later ones are left out: not available: {reason}"


def _skip(run: RunDirectory, plan: Plan, turn: Turn) -> str:
    """Returns a line about it."""
    _skip_from(run, plan, turn)
    label = labels.of_cell(plan, turn.cell.parameters)
    return f"{label}: known precisely enough after {turn.round} rounds, of at most {plan.rounds}"


def _skip_from(run: RunDirectory, plan: Plan, turn: Turn) -> None:
    """A turn and the rounds after it, which would tell nothing else."""
    rounds = [
        other.round
        for other in plan.turns
        if other.cell.id == turn.cell.id and other.round >= turn.round and not _is_begun(run, other)
    ]
    for round_ in rounds:
        run.skip(turn.cell.id, round_)


def _is_begun(run: RunDirectory, turn: Turn) -> bool:
    """What has been begun is completed, or it would be missing."""
    return any(attempt.key[:2] == (turn.cell.id, turn.round) for attempt in run.attempts())
