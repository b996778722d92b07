"""Failures of hosts and nodes: which class they get and what the message says."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable

import pytest

from turntable_core.connections import Command, Outcome
from turntable_core.errors import PhaseError
from turntable_core.node_calls import NodeCalls
from turntable_core.requests import Request
from turntable_core.testbed import DataHost, SwitchHost, Testbed

from .testbeds import OWNER


def directories(name: str) -> tuple:
    return (name, "/opt/bin", f"/run/t/{name}", f"/var/t/{name}", 0)


TESTBED = Testbed(
    "t",
    "emulated",
    10.0,
    SwitchHost(*directories("switch0"), "soft", "/p4", 64, "cpu", "af_packet"),
    {
        "servers": tuple(
            DataHost(*directories(name), "198.18.0.1", "02:00:00:00:00:01", 1, "p1")
            for name in ("server0", "server1")
        )
    },
)
STATS = {"server0": [Request("kvserver", "stats")], "server1": [Request("kvserver", "stats")]}


class Connections:
    """Answers every command with a prepared outcome, and remembers the commands."""

    def __init__(self, **outcomes: Outcome) -> None:
        self.outcomes = outcomes
        self.commands: list[Command] = []

    def run(
        self, commands: Iterable[Command], deadline_s: float, **_: object
    ) -> dict[str, Outcome]:
        self.commands = list(commands)
        return self.outcomes


def good(host: str) -> Outcome:
    return Outcome(host, 0, json.dumps([{"id": 1, "ok": True, "result": {"host": host}}]).encode())


def refused(host: str, code: str, status: int = 1) -> Outcome:
    error = {"code": code, "message": "store is missing"}
    return Outcome(host, status, json.dumps([{"id": 1, "ok": False, "error": error}]).encode())


def send(**outcomes: Outcome) -> dict:
    return NodeCalls(Connections(**outcomes), TESTBED, OWNER).send(STATS, 5)


def test_results_by_host() -> None:
    assert send(server0=good("server0"), server1=good("server1")) == {
        "server0": [{"host": "server0"}],
        "server1": [{"host": "server1"}],
    }


def test_command_line_carries_deadline_lease_and_owner() -> None:
    connections = Connections(server0=good("server0"), server1=good("server1"))
    NodeCalls(connections, TESTBED, OWNER).send(STATS, 5)
    assert shlex.split(connections.commands[1].line) == [
        *("/opt/bin/nodectl", "--directory", "/run/t/server1"),
        # A second more than the phase's: whoever has that as his own deadline says why it is over.
        *("--deadline", "6", "--lease", "10", "--owner", OWNER.text()),
    ]
    assert json.loads(connections.commands[1].stdin) == [
        {"node": "kvserver", "command": "stats", "args": {}}
    ]


@pytest.mark.parametrize(
    ("code", "failure_class"),
    [
        ("bad_argument", "command_error"),
        ("not_found", "command_error"),
        ("timeout", "timeout"),
        ("unavailable", "node_lost"),
        ("full", "environment"),
        ("unsupported", "unsupported"),
    ],
)
def test_a_refused_command_names_host_node_command_and_log(code: str, failure_class: str) -> None:
    with pytest.raises(PhaseError) as caught:
        send(server0=good("server0"), server1=refused("server1", code))
    assert caught.value.failure_class == failure_class
    assert str(caught.value) == (
        f"host server1, node kvserver, command stats: store is missing [{code}]; "
        "log: /run/t/server1/kvserver.log on server1"
    )


def test_every_failing_host_is_named() -> None:
    lost = Outcome("server0", None, failure="unreachable", message="no route")
    with pytest.raises(
        PhaseError, match=r"host server0: no route \(sent: kvserver stats\)\nhost server1.*missing"
    ) as caught:
        send(server0=lost, server1=refused("server1", "timeout", 3))
    assert caught.value.failure_class == "unreachable"


@pytest.mark.parametrize(
    ("codes", "failure_class"),
    [
        (("unsupported", "unsupported"), "unsupported"),
        (("unsupported", "unavailable"), "node_lost"),
        (("timeout", "unsupported"), "timeout"),
    ],
)
def test_what_one_host_cannot_do_hides_no_failure_of_another(
    codes: tuple[str, str], failure_class: str
) -> None:
    with pytest.raises(PhaseError, match=rf"\[{codes[0]}\](?s:.*)\[{codes[1]}\]") as caught:
        send(server0=refused("server0", codes[0]), server1=refused("server1", codes[1]))
    assert caught.value.failure_class == failure_class


def test_output_that_is_no_answer_is_shown() -> None:
    broken = Outcome("server1", 127, b"", b"sh: /opt/bin/nodectl: not found\n")
    with pytest.raises(
        PhaseError,
        match=r"host server1: nodectl ended with status 127: sh: /opt/bin/nodectl: not found",
    ):
        send(server0=good("server0"), server1=broken)
