"""Whether a turn is still needed: the rounds before it may know all results precisely enough.

ask_turn:
  only: iteration=0          # what this play measures again, as plan_run returned: that is needed
  at: {run: DIR, cell: ID, round: 0}

Returns `needed`. A turn that is not is noted in the run's directory: it is not missing there.
"""

from __future__ import annotations

from typing import Any

from turntable.precision import is_needed
from turntable_core import labels
from turntable_core.plan import Turn
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
        if not may_skip or _is_begun(run, turn) or is_needed(run.path, turn):
            return {"changed": False, "needed": True}
        run.skip(turn.cell.id, turn.round)
        label = labels.of_turn(plan, turn)
        return {"changed": True, "needed": False, "report": f"{label}: known precisely enough"}


def _is_begun(run: RunDirectory, turn: Turn) -> bool:
    """What has been begun is completed, or it would be missing."""
    return any(attempt.key[:2] == (turn.cell.id, turn.round) for attempt in run.attempts())
