"""Whether the hosts of a testbed answer at all, before minutes of planning are spent on them."""

from __future__ import annotations

from turntable_core.connections import Command, HostConnections
from turntable_core.errors import PhaseError
from turntable_core.testbed import Testbed

_DEADLINE_S = 30.0


def require_reachable(connections: HostConnections, testbed: Testbed) -> None:
    """Raises PhaseError: why the first host cannot be reached, and which others cannot either."""
    commands = [Command(host.name, "true") for host in testbed.hosts]
    failed = {
        name: outcome
        for name, outcome in connections.run(commands, _DEADLINE_S).items()
        if outcome.failure
    }
    if failed:
        first, *others = failed
        message = f"host {first}: {failed[first].message}"
        if others:
            message += f"\nnor can be reached: {', '.join(others)}"
        raise PhaseError(failed[first].failure, message)
