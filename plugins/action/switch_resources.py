"""What a system's programs take of a switch: summary.csv and report.html of a run without traffic.

Documented in plugins/modules/switch_resources.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, ClassVar

from turntable.system import analysis_of_system
from turntable_core import systems
from turntable_core.errors import TurntableError
from turntable_core.run_action import RunAction
from turntable_core.run_directory import new_run_name


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "system": {"type": "str", "required": True},
        "repository": {"type": "path", "required": True},
        "build": {"type": "path", "required": True},
        "results": {"type": "path", "required": True},
        "profile": {"type": "str", "default": "embedded"},
        "run": {"type": "str"},
        "p4c": {"type": "str"},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        report = analysis_of_system(systems.find(arguments["system"])).switch_resources(
            build=Path(arguments["build"]),
            sources=Path(arguments["repository"]) / "p4",
            results=None if self._task.check_mode else Path(arguments["results"]),
            profile=arguments["profile"],
            run=arguments["run"] or new_run_name(arguments["profile"]),
            p4c=_compiler(arguments["p4c"]),
        )
        return {"changed": not self._task.check_mode, "report": f"\n{report}"}


def _compiler(p4c: str | None) -> Path | None:
    found = shutil.which(p4c) if p4c else None
    if p4c and found is None:
        raise TurntableError(
            f"p4c: no program {p4c!r}; expected a p4c built with its Tofino back end "
            "(docs/p4soft.md), or none, for what p4soft counts"
        )
    return Path(found) if found else None
