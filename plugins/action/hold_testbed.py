"""Takes the testbed for a run that has it already: hosts that lost their supervisor get one again.

Documented in plugins/modules/hold_testbed.py.
"""

from __future__ import annotations

from typing import Any

from turntable_core.ownership import testbed_lock
from turntable_core.run_action import AT_ARGUMENT, RunAction, read_context


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        context = read_context(arguments["at"])
        testbed_lock.acquire(self.connections(task_vars), context.testbed, context.owner)
        return {"changed": True}
