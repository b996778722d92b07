"""Opens an attempt at an iteration: numbers it and makes the directory of its raw files.

Documented in plugins/modules/begin_attempt.py.
"""

from __future__ import annotations

import time
from typing import Any

from turntable_core import caller, journal
from turntable_core.run_action import AT_ARGUMENT, RunAction
from turntable_core.run_directory import RunDirectory


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        at = arguments["at"]
        key = (at["cell"], at["round"], at["iteration"])
        run = RunDirectory(at["run"])
        number = run.next_attempt(*key)
        directory = run.path / journal.attempt_directory(*key, number)
        caller.make_directory(directory)
        began = {"began_at_ns": time.time_ns()}
        return {"changed": True, "number": number, "directory": str(directory)} | began
