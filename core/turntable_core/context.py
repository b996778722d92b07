"""What a component's verb may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from turntable_core.ownership.owner import Owner
from turntable_core.plan import Iteration, Plan, Turn
from turntable_core.system import System, Windows
from turntable_core.testbed import Testbed

# What was too short a lead for a busy machine once is not again.
_LATER_LEAD_S = 1.0
# In the answer of a node to which the command came too late (src/node/common_start.h).
_TOO_LATE = "the host is busy, or its clock differs"


@dataclass(frozen=True)
class Context:
    """`turn` is set while a cell is measured, `iteration` and `start_at_ns` inside an iteration."""

    testbed: Testbed
    plan: Plan
    turn: Turn | None = None
    iteration: Iteration | None = None
    start_at_ns: int | None = None  # CLOCK_REALTIME, common to all hosts
    owner: Owner | None = None  # who holds the testbed for this run
    secret: str | None = None  # of the run, while a playbook works on it
    created_at: str | None = None  # the run: tells it from an earlier one of its name

    @property
    def system(self) -> System:
        return self.plan.system

    @property
    def parameters(self) -> dict[str, Any]:
        """Of the turn, or of the plan's first one for verbs that come before any turn."""
        return dict((self.turn or self.plan.turns[0]).cell.parameters)

    @property
    def windows(self) -> Windows:
        return self.system.windows(self.parameters)

    def lead_s(self, attempt: int) -> float:
        """From the command to the common start instant; attempts count from 1."""
        lead_s = self.windows.lead_s
        return lead_s if attempt == 1 else max(lead_s, _LATER_LEAD_S)

    def with_lead(self, message: str, attempt: int) -> str:
        """The message of a failed phase `begin`; if it came too late, how much time there was, and
        what comes next.
        """
        if _TOO_LATE not in message:
            return message
        lead_s, later_s = self.lead_s(attempt), self.lead_s(attempt + 1)
        had = f"{message}\nThere were {lead_s:g} s between command and common start"
        if later_s > lead_s:
            return f"{had}; a later attempt has {later_s:g} s"
        return f"{had}, in later attempts too: free the machine, or see docs/troubleshooting.md"

    def window_ns(self) -> tuple[int, int]:
        """The measured window of the running iteration, CLOCK_REALTIME."""
        begin = self.start_at_ns + seconds_to_ns(self.windows.warmup_s)
        return begin, begin + seconds_to_ns(self.windows.measure_s)


def seconds_to_ns(seconds: float) -> int:
    return round(seconds * 1_000_000_000)
