"""Keeps what the hosts can tell about a failure, in logs.tar.gz of the run.

Documented in plugins/modules/collect_logs.py.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from turntable_core import log_bundle
from turntable_core.run_action import AT_ARGUMENT, RunAction, failure, read_context
from turntable_core.run_directory import RunDirectory


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT | {
        "attempt": {"type": "int"},
        "failure": {"type": "dict", "required": True},
        "end_run": {"type": "bool", "default": False},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        run = RunDirectory(arguments["at"]["run"])
        where = self._collect(run, arguments, task_vars)
        if not arguments["end_run"]:
            return {"changed": True, "report": where}
        failed = arguments["failure"]
        result = failure(
            f"The run ended early: {_first_line(failed)}\n{where}\n"
            f"When the cause is mended, the same command with -e run={run.path.name} continues it: "
            "what has been measured is not measured again."
        )
        return result | {"failure_class": failed.get("failure_class", "internal")}

    def _collect(
        self, run: RunDirectory, arguments: dict[str, Any], task_vars: dict[str, Any]
    ) -> str:
        """A line for the user: where the logs are, or why there are none."""
        try:
            context = read_context(arguments["at"])
            lines = {host.name: log_bundle.script_for(host) for host in context.testbed.hosts}
            outcomes = self.node_calls(context, task_vars).run(lines, log_bundle.DEADLINE_S)
            message = str(arguments["failure"].get("msg", "no message"))
            path = log_bundle.write(run, _name(arguments), message, outcomes)
        except Exception as error:  # the failure that is being recorded must not be lost to this
            return f"No logs were kept: {type(error).__name__}: {error}"
        return f"Logs of all hosts: {path}"


def _name(arguments: Mapping[str, Any]) -> str:
    """Of the failure's directory in the bundle."""
    at = arguments["at"]
    if arguments["attempt"] is None:
        return time.strftime("run-%Y%m%d-%H%M%S")
    return f"{at['cell']}-r{at['round']}-i{at['iteration']}-a{arguments['attempt']}"


def _first_line(failed: Mapping[str, Any]) -> str:
    return str(failed.get("msg", "no message")).strip().partition("\n")[0]
