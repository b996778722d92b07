"""Lines to the reader of a playbook that waits longer than usual."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ansible.utils.display import Display

# Every wait has a deadline, but some are minutes.
SHOWN_AFTER_S = 10.0
_PLANNING_SHOWN_AFTER_S = 3.0

_display = Display()


class WaitNotice:
    """One wait: is shown after some seconds, then each time it has lasted twice as long."""

    def __init__(self, phase: str, expected_s: float, deadline_s: float) -> None:
        self._phase, self._deadline_s = phase, deadline_s
        self._began = time.monotonic()
        self._after_s = expected_s + SHOWN_AFTER_S

    @property
    def due(self) -> float:
        """The next line's instant, time.monotonic()."""
        return self._began + self._after_s

    def show_if_due(self, missing: Mapping[str, str]) -> None:
        """missing: hosts that have not answered yet -> what they were asked."""
        lasted_s = time.monotonic() - self._began
        if not self._after_s <= lasted_s < self._deadline_s:  # at the deadline there is an error
            return
        self._after_s *= 2
        whom = ", ".join(f"{host} ({what})" if what else host for host, what in missing.items())
        phase = f"{self._phase}: " if self._phase else ""
        _display.display(
            f"{phase}waiting for {whom}, for {lasted_s:.0f} s; at most {self._deadline_s:g} s"
        )


class PlanningNotice:
    """The turns of a run are planned, some at once."""

    def __init__(self, turns: int) -> None:
        self._turns, self._planned = turns, 0
        self._began = time.monotonic()
        self._after_s = _PLANNING_SHOWN_AFTER_S

    def planned_one(self) -> None:
        self._planned += 1
        self.show_if_due()

    def show_if_due(self) -> None:
        lasted_s = time.monotonic() - self._began
        if lasted_s < self._after_s or self._planned == self._turns:
            return
        self._after_s = 2 * lasted_s
        _display.display(f"planning: {self._planned} of {self._turns} turns in {lasted_s:.0f} s")
