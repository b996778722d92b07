"""One phase of a run on all hosts at once: requests sent through each host's own connection.

Documented in plugins/modules/node_phase.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turntable_core import phase
from turntable_core.run_action import AT_ARGUMENT, RunAction, read_context


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT | phase.ARGUMENTS | {"save_to": {"type": "path"}}

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        directory = arguments["save_to"]
        asked = phase.Phase(
            arguments["components"],
            arguments["verb"],
            arguments["deadline"],
            Path(directory) if directory else None,
        )
        asked.carry_out(read_context(arguments["at"]), self.connections(task_vars))
        return {"changed": asked.changes}
