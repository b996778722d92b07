"""Copies files that nodes have left in the run directories of a group's hosts into the run's.

Documented in plugins/modules/keep_files.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turntable_core import kept_files
from turntable_core.run_action import AT_ARGUMENT, RunAction, read_context


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT | {
        "role": {"type": "str", "required": True},
        "hosts": {"type": "int"},
        "files": {"type": "str", "required": True},
        "into": {"type": "str", "required": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        context = read_context(arguments["at"])
        hosts = context.testbed.hosts_of(arguments["role"])[: arguments["hosts"]]
        lines = {host.name: kept_files.command_for(host, arguments["files"]) for host in hosts}
        deadline_s = context.plan.deadlines["command"]
        outcomes = self.node_calls(context, task_vars).run(lines, deadline_s)
        directory = Path(arguments["at"]["run"]) / arguments["into"]
        return {"changed": bool(kept_files.keep(outcomes, directory))}
