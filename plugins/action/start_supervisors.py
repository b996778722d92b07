"""Starts the supervisor of every host, a daemon that ends with its lease."""

from __future__ import annotations

import time
from typing import Any

from turntable_core.components.supervisor import command_lines
from turntable_core.connections import Command, HostConnections, Outcome
from turntable_core.errors import PhaseError
from turntable_core.run_action import AT_ARGUMENT, RunAction, read_context


class ActionModule(RunAction):
    ARGUMENTS = AT_ARGUMENT

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        context = read_context(arguments["at"])
        connections = self.connections(task_vars)
        pending = command_lines(context)
        # A killed run leaves supervisors that end with their lease; until then a new one is
        # refused.
        end = time.monotonic() + context.plan.deadlines["lease"] + context.plan.deadlines["command"]
        while pending:
            failed = _start(connections, pending, context.plan.deadlines["start_nodes"])
            if failed and time.monotonic() > end:
                raise PhaseError(
                    "environment", "\n".join(_explain(outcome) for outcome in failed.values())
                )
            pending = {host: pending[host] for host in failed}
        return {"changed": True}


def _start(
    connections: HostConnections, lines: dict[str, str], deadline_s: float
) -> dict[str, Outcome]:
    """The outcomes of those that failed."""
    outcomes = connections.run([Command(host, line) for host, line in lines.items()], deadline_s)
    return {host: outcome for host, outcome in outcomes.items() if outcome.status != 0}


def _explain(outcome: Outcome) -> str:
    text = (
        outcome.message
        or outcome.stderr.decode(errors="replace").strip()
        or f"status {outcome.status}"
    )
    return (
        f"host {outcome.host}: the supervisor cannot be started: {text}. Is the testbed up "
        "(playbooks/testbed_up.yml), built (make build), and free of another run?"
    )
