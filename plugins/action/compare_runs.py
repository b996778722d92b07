"""What differs between two runs, and by how much their cells do: a text, and a page.

Documented in plugins/modules/compare_runs.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from turntable.analyze import compare_and_draw
from turntable.compare import compare
from turntable.find_run import named_run
from turntable_core.run_action import RunAction


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "results": {"type": "path", "required": True},
        "run": {"type": "str", "required": True},
        "compare": {"type": "str", "required": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        results = Path(arguments["results"])
        first, second = (named_run(results, arguments[name]) for name in ("run", "compare"))
        if self._task.check_mode:
            return {"changed": False, "report": compare(first, second)}
        return {"changed": True, "report": compare_and_draw(first, second)}
