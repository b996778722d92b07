"""Children that end with this process, whatever ends it: the kernel kills them when it dies."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

_PR_SET_PDEATHSIG = 1
_END_SECONDS = 10
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LIBC = ctypes.CDLL(None)
# The kernel's signal at a parent's death reaches a child, no grandchild: this shell, which is told
# of it, kills its group.
_GROUP = 'trap "kill -KILL 0" TERM; "$@" & wait "$!"'

Command = Sequence[str | Path]


class StopRequested(BaseException):
    """A signal asked this process to end: Ctrl-C, or `kill`."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number  # of the exit, as in a shell


def stop_on_signals() -> None:
    """From now on the first such signal raises StopRequested, and others are ignored: what was
    begun is ended once.
    """

    def stop(number: int, _: FrameType | None) -> None:
        for each in _ENDING_SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise StopRequested(number)

    for each in _ENDING_SIGNALS:
        signal.signal(each, stop)


def _at_death_of(parent: int, number: signal.Signals) -> Callable[[], None]:
    def in_child() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:  # it died before
            os._exit(1)

    return in_child


class Child:
    """A program in a session of its own, so that Ctrl-C reaches this process alone."""

    def __init__(self, name: str, command: Command, log: Path | None = None) -> None:
        """log: for its standard error, which without one is this process's."""
        self.name = name
        self._log = log
        with contextlib.ExitStack() as files:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stderr=None if log is None else files.enter_context(log.open("wb")),
                start_new_session=True,
                preexec_fn=_at_death_of(os.getpid(), signal.SIGKILL),  # noqa: PLW1509  # one thread
            )

    def how_it_ended(self) -> str | None:
        """ "ended with status 1", "was ended by SIGKILL"; None while it runs."""
        status = self.process.poll()
        if status is None:
            return None
        if status < 0:
            return f"was ended by {signal.Signals(-status).name}"
        return f"ended with status {status}"

    def said(self) -> str:
        """What is in its log: lines, each with its end."""
        return "" if self._log is None else self._log.read_text(errors="replace")


def end_all(children: Sequence[Child]) -> None:
    """Together: a server may wait for a switch that hangs."""
    for child in children:
        child.process.terminate()
    end = time.monotonic() + _END_SECONDS
    for child in children:
        try:
            child.process.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait()


def wait_for_an_end(children: Sequence[Child]) -> Child:
    """The first of them that ends; at least one runs, or has ended unnoticed."""
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        for child in children:
            if ended is not None and child.process.pid == ended.si_pid:
                return child


def run_to_end(command: Command, scratch: Path) -> tuple[int, str]:
    """Exit status and standard error of a program that may have children, as a compiler has.

    It and its children end with this process, too. Temporary files are in `scratch`.
    """
    process = subprocess.Popen(
        ["/bin/sh", "-c", _GROUP, "sh", *command],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A compiler without PATH does not find its linker.
        env={"PATH": os.defpath, **os.environ, "TMPDIR": str(scratch)},
        start_new_session=True,
        preexec_fn=_at_death_of(os.getpid(), signal.SIGTERM),  # noqa: PLW1509  # one thread
    )
    try:
        _, said = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return process.returncode, said
