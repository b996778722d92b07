"""Makes summary.csv, cells.csv and report.html of a run again, from its files alone.

    analyze_run: {results: DIR, experiment: SYSTEM/EXPERIMENT, run: ID}
    analyze_run: {results: DIR, run_dir: DIR, notebook: true}

Without run the newest, without experiment that of any. notebook: executes the experiment's notebook
too. Needs no testbed, and does not judge: an invalid run gets its report too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from turntable.analyze import rebuild
from turntable.find_run import find_run
from turntable_core.run_action import RunAction
from turntable_core.run_directory import RunDirectory


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "results": {"type": "path", "required": True},
        "run_dir": {"type": "path"},
        "experiment": {"type": "str"},
        "run": {"type": "str"},
        "notebook": {"type": "bool", "default": False},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        directory = arguments["run_dir"] or find_run(
            Path(arguments["results"]), arguments["experiment"], arguments["run"]
        )
        path = Path(directory).absolute()
        if self._task.check_mode:
            RunDirectory(path).plan()
            report = f"summary, cells and report of {path} would be made again"
            return {"changed": True, "report": report}
        return {"changed": True, "report": "\n" + rebuild(path, arguments["notebook"])}
