"""Ends the nodes of a run and gives the testbed back.

Documented in plugins/modules/release_testbed.py.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from turntable_core.ownership import run_claim, testbed_lock
from turntable_core.run_action import AT_ARGUMENT, RunAction, read_context


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        context = read_context(arguments["at"])
        owner = context.owner
        if owner is None or owner.pid != os.getppid():  # a run with nothing to measure takes none
            return {"changed": False}
        testbed_lock.release(self.connections(task_vars), context.testbed, owner)
        run_claim.drop(Path(arguments["at"]["run"]))
        return {"changed": True}
