"""Judges and aggregates a run from its raw files: summary.csv, the terminal table, report.html.

Documented in plugins/modules/summarize_run.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from turntable.analyze import report_line
from turntable.summarize import summarize_directory
from turntable_core import plays
from turntable_core.catalogue import resume_command
from turntable_core.run_action import RunAction, failure

_MOST_TERMS = 10  # in a command that can be read


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "run": {"type": "path", "required": True},
        "fail_on_invalid": {"type": "bool", "default": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        directory = Path(arguments["run"])
        summary = summarize_directory(directory)
        shown = f"\n{summary.table}\n{report_line(directory)}"
        plays.end(directory)
        result = {"changed": True, "report": shown, "valid": summary.valid}
        if arguments["fail_on_invalid"] and not summary.valid:
            result |= failure(_help(directory, summary.terms_of_invalid))
        return result


def _help(directory: Path, terms: Sequence[str]) -> str:
    """terms: of `only`, for what is not valid."""
    text = (
        "not every verdict is valid: the reasons are above and in summary.csv; "
        "docs/experiments.md (Invalid rows) says what to do. "
        "-e fail_on_invalid=false ends such a run without an error."
    )
    if not 0 < len(terms) <= _MOST_TERMS:
        return text
    manifest = json.loads((directory / "manifest.json").read_bytes())
    command = resume_command(manifest, directory.name)
    return f"{text} To measure what is not valid again:\n{command} -e only={','.join(terms)}"
