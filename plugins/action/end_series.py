"""The report over all experiments of a series, and the list of those that failed or are invalid.

Documented in plugins/modules/end_series.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from turntable.overview import write_overview
from turntable_core import plays
from turntable_core.overrides import read_options
from turntable_core.run_action import RunAction, failure
from turntable_core.series import Series


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {"series": {"type": "path", "required": True}}

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        series = Series(Path(arguments["series"]))
        plays.end(series.directory)
        written = write_overview(series)
        result = {"changed": True, "report": f"\n{written.text}"}
        wrong = written.failed
        if read_options(self.extra_vars()).fail_on_invalid:
            wrong = written.failed + written.invalid
        if wrong:
            many = "experiments" if len(wrong) > 1 else "experiment"
            again = "the same command with -e run=" + series.run
            lines = "\n".join(f"  {line}" for line in wrong)
            result |= failure(
                f"{len(wrong)} {many} of the series failed or is invalid; {again} "
                f"measures what is missing:\n{lines}"
            )
        return result
