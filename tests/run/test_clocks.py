"""Clocks of hosts against the controller's: only what no delay explains counts."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from turntable_core import clocks
from turntable_core.connections import Command, Outcome
from turntable_core.errors import PhaseError

from .test_node_calls import TESTBED

MS = 1_000_000


class Hosts:
    """Each was asked at 1000 ms and answered at 1040 ms of the controller's clock."""

    def __init__(self, **clocks_ms: float) -> None:
        self.clocks_ms = clocks_ms

    def run(self, commands: Iterable[Command], *_: object) -> dict[str, Outcome]:
        return {command.host: self._answer(command.host) for command in commands}

    def _answer(self, host: str) -> Outcome:
        realtime_ns = round(self.clocks_ms.get(host, 1020) * MS)
        answer = json.dumps([{"ok": True, "result": {"realtime_ns": realtime_ns}}]).encode()
        return Outcome(host, 0, answer, began_at_ns=1000 * MS, ended_at_ns=1040 * MS)


@pytest.mark.parametrize("clock_ms", [991, 1000, 1040, 1049])
def test_what_a_slow_answer_explains_is_accepted(clock_ms: float) -> None:
    clocks.check(Hosts(server0=clock_ms), TESTBED)


@pytest.mark.parametrize(
    ("clock_ms", "text"),
    [
        (989, "at least 11 ms behind"),
        (1051, "at least 11 ms ahead of"),
        (3_601_040, "3,600,000 ms"),
    ],
)
def test_wrong_clock_is_named(clock_ms: float, text: str) -> None:
    with pytest.raises(PhaseError, match=f"^host server0: its clock is .*{text}") as caught:
        clocks.check(Hosts(server0=clock_ms), TESTBED)
    assert caught.value.failure_class == "environment"


def test_host_that_does_not_tell_the_time_is_an_error() -> None:
    hosts = Hosts()
    hosts._answer = lambda host: Outcome(host, 127, stderr=b"nodectl: not found")
    with pytest.raises(PhaseError, match=r"host switch0: .*nodectl: not found"):
        clocks.check(hosts, TESTBED)
