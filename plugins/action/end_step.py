"""Notes that an experiment of a series has ended.

Documented in plugins/modules/end_step.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from turntable_core.run_action import RunAction
from turntable_core.series import Series


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "series": {"type": "path", "required": True},
        "experiment": {"type": "str", "required": True},
        "failure": {"type": "dict"},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        failed = arguments["failure"]
        why = failed and str(failed.get("msg", "no message")).strip().partition("\n")[0]
        Series(Path(arguments["series"])).end_step(arguments["experiment"], why)
        if not why:
            return {"changed": True}
        return {"changed": True, "report": f"{arguments['experiment']} failed; the others go on"}
