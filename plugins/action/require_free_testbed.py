"""Leaves a testbed to the run that has it: for playbooks that change one.

Documented in plugins/modules/require_free_testbed.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from turntable_core.ownership import run_claim, testbed_lock
from turntable_core.run_action import RunAction
from turntable_core.testbed import read_testbed


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "force": {"type": "bool", "default": False},
        "results": {"type": "path", "required": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if self._task.check_mode:  # nothing will be changed
            return {"changed": False}
        testbed = read_testbed(task_vars["hostvars"], task_vars["groups"])
        connections = self.connections(task_vars)
        dismissed = arguments["force"] and testbed_lock.dismiss(connections, testbed)
        testbed_lock.wait_until_free(connections, testbed)
        run_claim.sweep(Path(arguments["results"]))
        return {"changed": dismissed}
