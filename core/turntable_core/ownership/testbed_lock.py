"""One run per testbed: the supervisors are its lock (docs/architecture.md §2).

The supervisor of the testbed's first host is started first, so it decides between two runs that
come at the same time, from whatever controllers; those of the other hosts follow. A killed run
leaves supervisors that end with their lease: that is waited for. A lease that is renewed is not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from ansible.utils.display import Display

from turntable_core import clocks
from turntable_core.components import supervisor
from turntable_core.connections import Command, HostConnections, Outcome
from turntable_core.errors import PhaseError
from turntable_core.node_calls import NodeCalls, nodectl
from turntable_core.ownership.owner import Owner, describe
from turntable_core.requests import Request
from turntable_core.testbed import Host, Testbed

# Exit status of a supervisor that finds another one, and of one whose owner somebody sent away
# (src/node/supervisor_main.cc).
_IN_USE = 3
_DISMISSED = 4
# Exit status of a shell that does not find the program.
_NO_PROGRAM = 127
# For a command through a connection, on a machine that is busy.
_COMMAND_S = 30.0
# A supervisor whose lease has run out gives its nodes 5 s to end in order, then kills them.
_ENDING_S = 15.0
_INTERVAL_S = 0.2

_display = Display()


@dataclass(frozen=True)
class Holder:
    """Who has a host, as its supervisor says."""

    pid: int | None
    owner: Mapping[str, Any] | None
    held_s: float | None
    lease_left_s: float
    renewals: int | None

    def is_alive(self, since: Holder) -> bool:
        """Whether its lease was renewed, or began, after `since` was seen."""
        return self.pid is not None and (self.pid, self.renewals) != (since.pid, since.renewals)


def read_holder(document: bytes) -> Holder | None:
    """From the output of `supervisor --holder`; None if nobody holds the host."""
    fields = json.loads(document)
    if not fields["held"]:
        return None
    if not fields["answers"]:  # it begins, ends or hangs
        return Holder(None, fields["owner"], None, 0.0, None)
    return Holder(
        fields["pid"],
        fields["owner"],
        fields["held_ms"] / 1000,
        fields["lease_left_ms"] / 1000,
        fields["renewals"],
    )


@contextmanager
def taken(connections: HostConnections, testbed: Testbed, owner: Owner) -> Iterator[None]:
    """Takes the testbed for `owner`, who keeps it unless the body fails.

    Raises PhaseError `environment` when another run has it, or a host cannot take part.
    """
    acquire(connections, testbed, owner)
    try:
        yield
    except BaseException:
        release(connections, testbed, owner)
        raise


def acquire(connections: HostConnections, testbed: Testbed, owner: Owner) -> None:
    """Every host has a supervisor that belongs to `owner`; those it has already are kept."""
    first, *others = testbed.hosts
    try:
        _start(connections, testbed, owner, [first])
        _start(connections, testbed, owner, [first, *others])
        clocks.check(connections, testbed)
    except BaseException:
        release(connections, testbed, owner)
        raise


def wait_until_free(connections: HostConnections, testbed: Testbed) -> None:
    """Returns when no run has the testbed; takes nothing. Raises PhaseError like `acquire`."""
    dead = _Patience(testbed)
    while holders := _holders(connections, testbed):
        dead.wait_for(holders)


def dismiss(connections: HostConnections, testbed: Testbed) -> bool:
    """Ends the run that has the testbed, whoever it is, and keeps it from coming back.

    Whether there was one.
    """
    request = Request(supervisor.NODE, "shutdown", {"dismiss": True})
    commands = [nodectl(host, [request], _COMMAND_S) for host in testbed.hosts]
    outcomes = connections.run(commands, _COMMAND_S)  # those that do not answer have no run
    return any(outcome.status == 0 for outcome in outcomes.values())


def release(connections: HostConnections, testbed: Testbed, owner: Owner) -> None:
    """Ends nodes and supervisors of `owner`, where there are any; others' are left alone."""
    with suppress(PhaseError):  # those not ours, or gone: their lease is not renewed any more
        NodeCalls(connections, testbed, owner).send(supervisor.release(testbed), _COMMAND_S)


def _start(
    connections: HostConnections, testbed: Testbed, owner: Owner, hosts: Iterable[Host]
) -> None:
    lines = supervisor.command_lines(testbed, owner, hosts)
    dead = _Patience(testbed)
    # Those that run already are asked as well: that renews their lease while others are waited for.
    while refused := _refused(_run(connections, lines)):
        dead.wait_for(refused)


def _holders(connections: HostConnections, testbed: Testbed) -> dict[str, Holder]:
    """Hosts that cannot be reached, or lack the program, have no supervisor."""
    outcomes = _run(connections, supervisor.holder_lines(testbed))
    known = {
        host: outcome
        for host, outcome in outcomes.items()
        if outcome.failure != "unreachable" and outcome.status != _NO_PROGRAM
    }
    failed = [outcome for outcome in known.values() if outcome.status != 0]
    if failed:
        raise PhaseError("environment", "\n".join(map(_explain_unknown, failed)))
    holders = {host: read_holder(outcome.stdout) for host, outcome in known.items()}
    return {host: holder for host, holder in holders.items() if holder is not None}


def _run(connections: HostConnections, lines: Mapping[str, str]) -> dict[str, Outcome]:
    commands = [Command(host, line, what=supervisor.NODE) for host, line in lines.items()]
    return connections.run(commands, _COMMAND_S)


def _refused(outcomes: Mapping[str, Outcome]) -> dict[str, Holder]:
    """Host -> who has it. Raises PhaseError when a supervisor failed for another reason."""
    failed = [outcome for outcome in outcomes.values() if outcome.status not in (0, _IN_USE)]
    if failed:
        raise PhaseError("environment", "\n".join(dict.fromkeys(map(_explain, failed))))
    holders = {
        host: read_holder(outcome.stdout)
        for host, outcome in outcomes.items()
        if outcome.status == _IN_USE
    }
    return {host: holder for host, holder in holders.items() if holder is not None}


class _Patience:
    """Waits for leases that run out, and loses it when one is renewed."""

    def __init__(self, testbed: Testbed) -> None:
        self._testbed = testbed
        self._first: dict[str, Holder] = {}
        self._limits: dict[str, float] = {}

    def wait_for(self, holders: Mapping[str, Holder]) -> None:
        """Returns after a moment.

        Raises PhaseError if one of `holders` is alive, or should have ended by now.
        """
        now = time.monotonic()
        for host, holder in holders.items():
            if not self._first:
                _display.display(_waiting(self._testbed.id, holder))
            first = self._first.setdefault(host, holder)
            limit = self._limits.setdefault(host, now + holder.lease_left_s + _ENDING_S)
            if first.pid is None and holder.pid is not None:
                # It was just beginning: from here on its lease counts.
                self._first[host] = holder
                self._limits[host] = now + holder.lease_left_s + _ENDING_S
            elif holder.is_alive(since=first):
                raise PhaseError("environment", in_use(self._testbed.id, holder))
            elif now > limit:
                raise PhaseError("environment", _does_not_end(host, holder))
        time.sleep(_INTERVAL_S)  # waits: interval of a probe with a deadline


def _waiting(testbed: str, holder: Holder) -> str:
    """To whoever has to wait a few seconds, and wonders why."""
    return (
        f"testbed {testbed!r} belongs to {describe(holder.owner)}: waiting for a sign of life, or "
        f"for the end of its lease in {holder.lease_left_s:.1f} s"
    )


def in_use(testbed: str, holder: Holder) -> str:
    """The message to whoever comes second."""
    return (
        f"testbed {testbed!r} is in use by {describe(holder.owner)}, for "
        f"{duration(holder.held_s)}; its lease lasts another {holder.lease_left_s:.1f} s and is "
        "being renewed. Wait for it, choose another testbed with -i, or end it with "
        "playbooks/stop.yml -e force=true"
    )


def duration(seconds: float) -> str:
    """`8 s`, `3 min 12 s`, `2 h 5 min`."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _does_not_end(host: str, holder: Holder) -> str:
    return (
        f"host {host}: the supervisor of {describe(holder.owner)} has not ended although its lease "
        "has run out; expected it to end its nodes within 5 s. See supervisor.log in the host's "
        "run directory, or end it with playbooks/stop.yml -e force=true"
    )


def _explain(outcome: Outcome) -> str:
    if outcome.status == _DISMISSED:
        return "this run was ended with playbooks/stop.yml (or testbed_down.yml) -e force=true"
    what = f"host {outcome.host}: the supervisor cannot be started: {_text(outcome)}"
    if outcome.failure:  # the connection says itself what to do
        return what
    return (
        f"{what}. Is the testbed up (playbooks/testbed_up.yml) and built (make build), and were "
        "hosts that are reached over ssh given the programs (playbooks/provision.yml)?"
    )


def _explain_unknown(outcome: Outcome) -> str:
    return (
        f"host {outcome.host}: whether a run uses it cannot be found out: {_text(outcome)}. Build "
        "what belongs to this checkout (make build)"
    )


def _text(outcome: Outcome) -> str:
    return (
        outcome.message
        or outcome.stderr.decode(errors="replace").strip()
        or f"status {outcome.status}"
    )
