"""Who gets a testbed: dead and living leases, ties, and hosts that cannot take part."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pytest

from turntable_core.connections import Command, Outcome
from turntable_core.errors import PhaseError
from turntable_core.ownership import testbed_lock

from .test_node_calls import TESTBED
from .testbeds import OWNER

OTHER = {
    "user": "bob",
    "controller": "lab2",
    "pid": 99,
    "run": "20261121-183000-embedded",
    "experiment": "farreach_exp01_throughput",
    "since_ns": 0,
}


class Clock:
    """Time that passes only where the code under test waits."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Hosts:
    """What supervisors answer: per host a function of the time, None for a host that is free."""

    def __init__(self, clock: Clock, **holders: Callable[[float], dict | None]) -> None:
        self._clock, self._holders = clock, holders
        self.started: list[str] = []
        self.released: list[str] = []
        self.unreachable: set[str] = set()

    def run(self, commands: Iterable[Command], *_: object, **__: object) -> dict[str, Outcome]:
        return {command.host: self._outcome(command) for command in commands}

    def _outcome(self, command: Command) -> Outcome:
        host = command.host
        if host in self.unreachable:
            return Outcome(host, None, failure="unreachable", message="no route")
        if "nodectl" in command.line:
            return self._nodectl(command)
        holder = self._holders.get(host, lambda now: None)(self._clock.now)
        if "--holder" in command.line:
            return Outcome(host, 0, json.dumps(holder or {"held": False}).encode())
        if holder:
            return Outcome(host, 3, json.dumps(holder).encode())
        self.started.append(host)
        return Outcome(host, 0)

    def _nodectl(self, command: Command) -> Outcome:
        (request,) = json.loads(command.stdin)
        if request["command"] == "shutdown":
            self.released.append(command.host)
        answer = [{"ok": True, "result": {"realtime_ns": 1}}]
        return Outcome(command.host, 0, json.dumps(answer).encode(), began_at_ns=0, ended_at_ns=2)


def held(*, lease_left_ms: float, renewals: int = 0, pid: int = 7, held_ms: int = 192_000) -> dict:
    return {
        "held": True,
        "answers": True,
        "owner": OTHER,
        "pid": pid,
        "held_ms": held_ms,
        "lease_left_ms": lease_left_ms,
        "renewals": renewals,
    }


def silent(owner: dict | None = None) -> dict:
    """A supervisor that is beginning, is ending, or hangs."""
    return {"held": True, "answers": False, "owner": owner}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(testbed_lock, "time", clock)
    return clock


def test_free_testbed_is_taken_switch_first(clock: Clock) -> None:
    hosts = Hosts(clock)
    testbed_lock.acquire(hosts, TESTBED, OWNER)
    assert hosts.started[0] == "switch0"
    assert set(hosts.started) == {"switch0", "server0", "server1"}
    assert hosts.released == []


def test_renewed_lease_is_refused_with_its_owner(clock: Clock) -> None:
    renewed = Hosts(
        clock, switch0=lambda now: held(lease_left_ms=8400, renewals=0 if now < 2 else 1)
    )
    with pytest.raises(PhaseError) as caught:
        testbed_lock.acquire(renewed, TESTBED, OWNER)
    assert caught.value.failure_class == "environment"
    assert str(caught.value) == (
        "testbed 't' is in use by bob@lab2, run 20261121-183000-embedded "
        "(farreach_exp01_throughput), for 3 min 12 s; its lease lasts another 8.4 s and is being "
        "renewed. Wait for it, choose another testbed with -i, or end it with playbooks/stop.yml "
        "-e force=true"
    )
    assert renewed.started == []


def test_dead_lease_is_waited_for(clock: Clock) -> None:
    hosts = Hosts(clock, server1=lambda now: held(lease_left_ms=9000) if now < 9 else None)
    testbed_lock.acquire(hosts, TESTBED, OWNER)
    assert clock.now == pytest.approx(9, abs=0.5)
    assert "server1" in hosts.started


def test_of_two_that_wait_for_a_dead_lease_one_is_refused(clock: Clock) -> None:
    def stolen(now: float) -> dict:
        return held(lease_left_ms=3000 - 1000 * now) if now < 3 else held(lease_left_ms=9e3, pid=8)

    with pytest.raises(PhaseError, match="is in use by bob@lab2"):
        testbed_lock.acquire(Hosts(clock, switch0=stolen), TESTBED, OWNER)
    assert clock.now < 4


def test_supervisor_that_begins_is_no_dead_one(clock: Clock) -> None:
    def beginning(now: float) -> dict:
        return silent() if now < 0.3 else held(lease_left_ms=9000, renewals=int(now))

    with pytest.raises(PhaseError, match="is in use by bob@lab2"):
        testbed_lock.acquire(Hosts(clock, switch0=beginning), TESTBED, OWNER)


def test_supervisor_that_hangs_is_given_up(clock: Clock) -> None:
    with pytest.raises(PhaseError, match=r"host switch0: the supervisor of bob@lab2.* not ended"):
        testbed_lock.acquire(Hosts(clock, switch0=lambda now: silent(OTHER)), TESTBED, OWNER)
    assert clock.now > 5  # it may be ending its nodes in order


def test_host_that_cannot_take_part_frees_the_others(clock: Clock) -> None:
    hosts = Hosts(clock)
    hosts.unreachable.add("server1")
    with pytest.raises(
        PhaseError, match=r"^host server1: the supervisor cannot be started: no route$"
    ):
        testbed_lock.acquire(hosts, TESTBED, OWNER)
    assert {"switch0", "server0"} <= set(hosts.released)


def test_testbed_is_given_back_when_the_run_cannot_be_written(clock: Clock) -> None:
    hosts = Hosts(clock)
    with pytest.raises(OSError, match="disk"), testbed_lock.taken(hosts, TESTBED, OWNER):
        raise OSError("disk full")
    assert set(hosts.released) == {"switch0", "server0", "server1"}


def test_change_of_a_testbed_waits_like_a_run(clock: Clock) -> None:
    testbed_lock.wait_until_free(
        Hosts(clock, switch0=lambda now: held(lease_left_ms=5e3) if now < 5 else None), TESTBED
    )
    assert clock.now >= 5
    renewed = Hosts(clock, switch0=lambda now: held(lease_left_ms=9e3, renewals=int(now)))
    with pytest.raises(PhaseError, match="is in use by bob@lab2"):
        testbed_lock.wait_until_free(renewed, TESTBED)


def test_hosts_that_are_not_there_have_no_run(clock: Clock) -> None:
    hosts = Hosts(clock)
    hosts.unreachable = {"switch0", "server0", "server1"}
    testbed_lock.wait_until_free(hosts, TESTBED)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(8.2, "8 s"), (192, "3 min 12 s"), (59.6, "1 min 0 s"), (7500, "2 h 5 min")],
)
def test_duration(seconds: float, text: str) -> None:
    assert testbed_lock.duration(seconds) == text
