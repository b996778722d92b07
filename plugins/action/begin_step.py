"""A line that says which experiment of a series begins.

Documented in plugins/modules/begin_step.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from turntable_core.run_action import RunAction


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {"label": {"type": "str", "required": True}}

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        return {"changed": False, "report": f"\n=== {arguments['label']} ==="}
