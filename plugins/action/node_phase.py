"""One phase of a run on all hosts at once: requests sent through each host's own connection.

node_phase:
  components: [switch]       # of the system, or turntable_core/components/
  verb: start                # a function of each of them
  deadline: start_nodes      # one of the experiment's deadlines (default: command)
  save_to: DIR               # optional: a file per host with its nodes' answers,
                             # HOST.VERB.json
  at: {run: DIR, cell: ID, round: 0, iteration: 3}

Those of an iteration that follow each other are one task: node_phases.
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
