"""Makes summary.csv, cells.csv and report.html of a run again, from its files alone.

Documented in plugins/modules/analyze_run.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from turntable.analyze import rebuild
from turntable.find_run import find_run
from turntable.imported import import_directory
from turntable_core.errors import InputError
from turntable_core.run_action import RunAction
from turntable_core.run_directory import RunDirectory


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "results": {"type": "path", "required": True},
        "run_dir": {"type": "path"},
        "import": {"type": "path"},
        "experiment": {"type": "str"},
        "run": {"type": "str"},
        "notebook": {"type": "bool", "default": False},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if arguments["import"]:
            return self._import(arguments)
        directory = arguments["run_dir"] or find_run(
            Path(arguments["results"]), arguments["experiment"], arguments["run"]
        )
        path = Path(directory).absolute()
        if self._task.check_mode:
            RunDirectory(path).plan()
            report = f"summary, cells and report of {path} would be made again"
            return {"changed": True, "report": report}
        return {"changed": True, "report": "\n" + rebuild(path, arguments["notebook"])}

    def _import(self, arguments: dict[str, Any]) -> dict[str, Any]:
        for name in ("run_dir", "experiment"):
            if arguments[name]:
                expected = "nothing beside import, which makes runs of their own experiments"
                raise InputError("extra variable", name, arguments[name], expected)
        results, source = Path(arguments["results"]), Path(arguments["import"]).absolute()
        dry_run = self._task.check_mode
        runs = import_directory(results, source, arguments["run"], dry_run=dry_run)
        if dry_run:
            report = "\n".join(f"{path} would be made of {source}" for path in runs)
            return {"changed": True, "report": report}
        tables = [rebuild(path.absolute(), arguments["notebook"]) for path in runs]
        return {"changed": True, "report": "\n" + "\n\n".join(tables)}
