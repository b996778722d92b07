"""Phases of one iteration, one after the other, each on all hosts at once: a single task, since a
task of Ansible takes as long as a phase.

Documented in plugins/modules/node_phases.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turntable_core import phase
from turntable_core.errors import PhaseError
from turntable_core.run_action import AT_ARGUMENT, RunAction, read_context

PHASE = phase.ARGUMENTS | {
    "name": {"type": "str", "required": True},
    "save": {"type": "bool", "default": False},
    "needed": {"type": "bool", "default": True},
}


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT | {
        "phases": {"type": "list", "elements": "dict", "required": True, "options": PHASE},
        "save_to": {"type": "path", "required": True},
        "attempt": {"type": "int", "required": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        context, connections = read_context(arguments["at"]), self.connections(task_vars)
        directory = Path(arguments["save_to"])
        for part in arguments["phases"]:
            if not part["needed"]:
                continue
            asked = phase.Phase(
                part["components"],
                part["verb"],
                part["deadline"],
                directory if part["save"] else None,
                arguments["attempt"],
            )
            try:
                context = asked.carry_out(context, connections.during(part["name"]))
            except PhaseError as error:
                raise PhaseError(error.failure_class, f"{part['name']}: {error}") from None
        return {"changed": True, "start_at_ns": context.start_at_ns}
