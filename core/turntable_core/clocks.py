"""All hosts begin at one instant of CLOCK_REALTIME: the hosts' clocks have to agree on it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from turntable_core.connections import HostConnections, Outcome
from turntable_core.errors import PhaseError
from turntable_core.node_calls import nodectl
from turntable_core.requests import Request
from turntable_core.testbed import Testbed

# A twelfth of start_lead_ms (120 ms) of the shipped experiments.
LARGEST_OFFSET_MS = 10.0
_DEADLINE_S = 30.0
_PING = Request("supervisor", "ping")


@dataclass(frozen=True)
class Offset:
    """A host's clock against the controller's: it lies between the two, in ms."""

    least_ms: float
    most_ms: float

    @property
    def certain_ms(self) -> float:
        """The part that no delay of the question or the answer can explain."""
        if self.least_ms > 0:
            return self.least_ms
        return min(self.most_ms, 0.0)


def check(connections: HostConnections, testbed: Testbed) -> None:
    """Raises PhaseError `environment` for hosts whose clock is certainly off by too much."""
    commands = [nodectl(host, [_PING], _DEADLINE_S) for host in testbed.hosts]
    outcomes = connections.run(commands, _DEADLINE_S)
    wrong = []
    for host, outcome in outcomes.items():
        offset_ms = offset_of(outcome).certain_ms
        if abs(offset_ms) > LARGEST_OFFSET_MS:
            wrong.append(_explain(host, offset_ms))
    if wrong:
        raise PhaseError("environment", "\n".join(wrong))


def offset_of(outcome: Outcome) -> Offset:
    """From the answer of `ping`, and the times at which it was asked and came back."""
    try:
        (answer,) = json.loads(outcome.stdout)
        realtime_ns = answer["result"]["realtime_ns"]
    except (ValueError, KeyError):
        text = outcome.message or (outcome.stdout + outcome.stderr).decode(errors="replace").strip()
        raise PhaseError(
            "environment", f"host {outcome.host}: its supervisor does not tell the time: {text}"
        ) from None
    return Offset(
        (realtime_ns - outcome.ended_at_ns) / 1e6, (realtime_ns - outcome.began_at_ns) / 1e6
    )


def _explain(host: str, offset_ms: float) -> str:
    direction = "ahead of" if offset_ms > 0 else "behind"
    return (
        f"host {host}: its clock is at least {abs(offset_ms):,.0f} ms {direction} the "
        f"controller's; expected at most {LARGEST_OFFSET_MS:g} ms, because all hosts begin at one "
        "instant. Synchronize both (chrony or another NTP client), then try again"
    )
