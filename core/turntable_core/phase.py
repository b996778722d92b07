"""One phase of a run on all hosts at once: requests sent through each host's own connection."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from turntable_core import components, files
from turntable_core.connections import HostConnections
from turntable_core.context import Context, seconds_to_ns
from turntable_core.errors import PhaseError
from turntable_core.node_calls import Answers, NodeCalls
from turntable_core.requests import Batches

RAW_FORMAT = 1

# As the argument spec of an action that carries out phases.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "components": {"type": "list", "elements": "str", "required": True},
    "verb": {"type": "str", "required": True},
    "deadline": {"type": "str", "default": "command"},
}


@dataclass(frozen=True)
class Phase:
    components: list[str]  # of the system, or turntable_core/components/
    verb: str  # a function of each of them
    deadline: str  # one of the experiment's deadlines, or `measure`
    save_to: Path | None = None  # a file per host with its nodes' answers
    attempt: int = 1  # its number, for the verb `begin`

    @property
    def changes(self) -> bool:
        """Whether it does more than ask."""
        return self.verb != "collect"

    def carry_out(self, context: Context, connections: HostConnections) -> Context:
        """Returns the context of what follows: after `begin` it knows the common start. Raises
        PhaseError.
        """
        if self.verb == "begin":
            lead_s = context.lead_s(self.attempt)
            context = replace(context, start_at_ns=time.time_ns() + seconds_to_ns(lead_s))
        batches = components.batches(self.components, self.verb, context)
        deadline_s, expected_s = _durations_s(self.deadline, context)
        calls = NodeCalls(connections, context.testbed, context.owner)
        try:
            answers = calls.send(batches, deadline_s, expected_s)
        except PhaseError as error:
            message = context.with_lead(str(error), self.attempt)
            raise PhaseError(error.failure_class, message) from None
        if self.save_to:
            _save(self.save_to, self.verb, batches, answers)
        return context


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
