"""One phase of a run on all hosts at once: requests sent through each host's own connection.

node_phase:
  components: [switch]       # of the system, or turntable_core/components/
  verb: prepare              # a function of each of them
  deadline: prepare          # one of the experiment's deadlines, or `measure`
  save_to: DIR               # optional: a file per host with its nodes' answers,
                             # HOST.json of the verb collect, HOST.VERB.json of others
  attempt: 1                 # its number, for the verb begin
  at: {run: DIR, cell: ID, round: 0, iteration: 3}

The verb `begin` needs the common start instant: it is the system's lead from now, more for a later
`attempt`, and is returned as start_at_ns.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from turntable_core import components, files
from turntable_core.context import Context, seconds_to_ns
from turntable_core.errors import PhaseError
from turntable_core.node_calls import Answers
from turntable_core.requests import Batches
from turntable_core.run_action import AT_ARGUMENT, RunAction, read_context

RAW_FORMAT = 1


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT | {
        "components": {"type": "list", "elements": "str", "required": True},
        "verb": {"type": "str", "required": True},
        "deadline": {"type": "str", "default": "command"},
        "attempt": {"type": "int", "default": 1},
        "save_to": {"type": "path"},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        context = read_context(arguments["at"])
        result: dict[str, Any] = {"changed": arguments["verb"] != "collect"}
        if arguments["verb"] == "begin":
            lead_s = context.lead_s(arguments["attempt"])
            context = replace(context, start_at_ns=time.time_ns() + seconds_to_ns(lead_s))
            result["start_at_ns"] = context.start_at_ns
        batches = components.batches(arguments["components"], arguments["verb"], context)
        deadline_s, expected_s = _durations_s(arguments["deadline"], context)
        try:
            answers = self.node_calls(context, task_vars).send(batches, deadline_s, expected_s)
        except PhaseError as error:
            message = context.with_lead(str(error), arguments["attempt"])
            raise PhaseError(error.failure_class, message) from None
        if arguments["save_to"]:
            _save(Path(arguments["save_to"]), arguments["verb"], batches, answers)
        return result


def _durations_s(name: str, context: Context) -> tuple[float, float]:
    """A phase's deadline, and how long it takes in any case. `measure` is as long as an iteration
    runs, and the allowance of a command.
    """
    deadlines = context.plan.deadlines
    if name != "measure":
        return deadlines[name], 0.0
    running_s = context.windows.running_s
    return running_s + 2 * deadlines["command"], running_s


def _save(directory: Path, verb: str, batches: Batches, answers: Answers) -> None:
    suffix = ".json" if verb == "collect" else f".{verb}.json"
    for host, requests in batches.items():
        items = [
            {"node": request.node, "command": request.command, "result": result}
            for request, result in zip(requests, answers[host], strict=True)
        ]
        files.write_once(
            directory / f"{host}{suffix}",
            files.to_compact_json(
                {"format": RAW_FORMAT, "host": host, "phase": verb, "answers": items}
            ),
        )
