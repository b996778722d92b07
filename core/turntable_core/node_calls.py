"""Sends each host its batch of requests through `nodectl` and keeps every host's lease alive
meanwhile.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from turntable_core.connections import Command, HostConnections, Outcome
from turntable_core.errors import UNSUPPORTED, PhaseError
from turntable_core.ownership.owner import Owner
from turntable_core.requests import Batches, Request
from turntable_core.testbed import Host, Testbed

# Over nodectl's own deadline: to open a connection and to bring the answers back.
CONNECTION_ALLOWANCE_S = 10.0
# nodectl's over a phase's: a node that is given the phase's as its own says then what it was doing.
ANSWER_ALLOWANCE_S = 1.0

# Error codes of nodes (docs/architecture.md §2) that are not simply `command_error`.
_CLASS_OF_CODE = {
    "timeout": "timeout",
    "unavailable": "node_lost",
    "full": "environment",
    "unsupported": UNSUPPORTED,
}

Answers = dict[str, list[dict[str, Any]]]


def nodectl(host: Host, requests: list[Request], deadline_s: float, *options: str) -> Command:
    """The command by which a host's nodes are asked; its output is a list of answers."""
    argv = [
        *(f"{host.bin_dir}/nodectl", "--directory", host.run_dir),
        *("--deadline", f"{deadline_s:g}", *options),
    ]
    stdin = json.dumps([asdict(request) for request in requests]).encode()
    return Command(host.name, shlex.join(host.prioritized(argv)), stdin, _listed(requests))


class NodeCalls:
    """Requests to the nodes of a testbed that `owner` holds; refused once another run has it."""

    def __init__(self, connections: HostConnections, testbed: Testbed, owner: Owner) -> None:
        self._connections = connections
        self._hosts = {host.name: host for host in testbed.hosts}
        self._lease_s = testbed.lease_s
        self._owner = owner

    def send(self, batches: Batches, deadline_s: float, expected_s: float = 0.0) -> Answers:
        """Host -> the `result` of each of its requests; expected_s: how long they take if all is
        well.

        Raises PhaseError when any host failed, after all have ended.
        """
        asked_s = deadline_s + ANSWER_ALLOWANCE_S
        commands = [self._command(name, requests, asked_s) for name, requests in batches.items()]
        outcomes = self._connections.run(
            commands,
            asked_s + CONNECTION_ALLOWANCE_S,
            every_s=self._lease_s / 5,
            tick=self._renewals,
            expected_s=expected_s,
        )
        answers, failures = {}, []
        for name, requests in batches.items():
            try:
                answers[name] = _results(self._hosts[name], requests, outcomes[name])
            except PhaseError as error:
                failures.append(error)
        if failures:
            raise PhaseError(_class_of(failures), "\n".join(str(error) for error in failures))
        return answers

    def run(self, lines: Mapping[str, str], deadline_s: float) -> dict[str, Outcome]:
        """Host -> what its shell command line did, while the leases of the others stay alive."""
        commands = [Command(name, line) for name, line in lines.items()]
        return self._connections.run(
            commands, deadline_s, every_s=self._lease_s / 5, tick=self._renewals
        )

    def _command(self, name: str, requests: list[Request], deadline_s: float) -> Command:
        lease = ["--lease", f"{self._lease_s:g}", "--owner", self._owner.text()]
        return nodectl(self._hosts[name], requests, deadline_s, *lease)

    def _renewals(self, busy: set[str]) -> list[Command]:
        renew = [Request("supervisor", "renew", {"lease_s": self._lease_s})]
        return [
            self._command(name, renew, self._lease_s) for name in self._hosts if name not in busy
        ]


def _class_of(failures: Sequence[PhaseError]) -> str:
    """Of several hosts' together: what one of them cannot do does not hide what befell another,
    after which nodes are started afresh. The next attempt asks again.
    """
    classes = [failure.failure_class for failure in failures]
    return next((each for each in classes if each != UNSUPPORTED), UNSUPPORTED)


def _results(host: Host, requests: list[Request], outcome: Outcome) -> list[dict[str, Any]]:
    if outcome.failure:
        raise PhaseError(
            outcome.failure, f"host {host.name}: {outcome.message} (sent: {_listed(requests)})"
        )
    try:
        answers = json.loads(outcome.stdout)
    except ValueError:
        text = (outcome.stderr or outcome.stdout).decode(errors="replace").strip()
        raise PhaseError(
            "command_error", f"host {host.name}: nodectl ended with status {outcome.status}: {text}"
        ) from None
    for request, answer in zip(requests, answers, strict=True):
        if not answer["ok"]:
            raise _failure(host, request, answer["error"])
    return [answer["result"] for answer in answers]


def _listed(requests: list[Request]) -> str:
    """Without repetitions."""
    return ", ".join(dict.fromkeys(f"{request.node} {request.command}" for request in requests))


def _failure(host: Host, request: Request, error: Mapping[str, str]) -> PhaseError:
    message = (
        f"host {host.name}, node {request.node}, command {request.command}: {error['message']} "
        f"[{error['code']}]; log: {host.run_dir}/{request.node}.log on {host.name}"
    )
    return PhaseError(_CLASS_OF_CODE.get(error["code"], "command_error"), message)
