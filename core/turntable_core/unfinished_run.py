"""A playbook that ends before its run: what it leaves is removed, and how to go on is said.

Ansible runs no further task then, and ends those that run, whether after Ctrl-C, SIGTERM or SIGHUP.
SIGKILL leaves what there is to the next playbook (run_claim.sweep).
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from turntable_core.ownership import run_claim
from turntable_core.signals_between_tasks import hand_on

_PLANNED_NOTHING = (
    "the run was still being planned: nothing has been measured. Run the same command again"
)


class UnfinishedRun:
    """Of this process; told by the callback what the playbook does."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._is_planning = False
        self._run: Path | None = None
        self._series: str | None = None  # the command that continues the series
        atexit.register(self.end)
        handler = signal.getsignal(signal.SIGTERM)
        if handler != signal.SIG_IGN:
            signal.signal(signal.SIGTERM, self._ending_before(handler))
        # A lost terminal. Tasks' processes are in sessions of their own and do not get it, and
        # Ansible hands on only SIGTERM.
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup has it
            signal.signal(signal.SIGHUP, _end_as_by_sigterm)

    def planning(self) -> None:
        self._is_planning = True

    def planned(self, run: Path | None) -> None:
        """None: there is nothing to run after all."""
        self._is_planning, self._run = False, run

    def series(self, command: str | None) -> None:
        """Of which the runs to come are part; None: it has ended."""
        self._is_planning, self._series = False, command

    def end(self) -> None:
        """Does nothing after a run that has given the testbed back itself, nor the second time."""
        if os.getpid() != self._process:  # a fork for a task
            return
        run, self._run = self._run, None
        series, self._series = self._series, None
        had_testbed = run is not None and run_claim.drop_own(run)
        if series:
            _say(f"the series of experiments has not ended; to continue it: {series}")
        elif self._is_planning:
            _say(_PLANNED_NOTHING)
        elif had_testbed:
            _say(f"run {run.name} has not ended; to continue it: {_command(run)}")
        self._is_planning = False

    def _ending_before(
        self, handler: Callable | int | None
    ) -> Callable[[int, FrameType | None], None]:
        def handle(number: int, frame: FrameType | None) -> None:
            if os.getpid() != self._process:  # a fork for a task that has not begun yet
                os._exit(1)
            self.end()
            if callable(handler):
                hand_on(number, frame, handler)
            else:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)

        return handle


def _end_as_by_sigterm(_number: int, _frame: FrameType | None) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _command(run: Path) -> str:
    from turntable_core.catalogue import resume_command  # noqa: PLC0415  # rarely needed

    try:
        manifest = json.loads((run / "manifest.json").read_bytes())
    except (OSError, ValueError):
        manifest = {}
    return resume_command(manifest, run.name)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
