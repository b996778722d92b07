"""A program that the scripts run: what it prints goes to a log, and it ends with the script."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from turntable.systems.shadowfax.command.log_directory import Log
from turntable_core.errors import TurntableError

PROGRAMS = Path(__file__).resolve().parents[5] / "build" / "bin"
# The kernel ends the program where the script is killed.
_WITH_SCRIPT = ("setpriv", "--pdeathsig", "TERM", "--")
_ENDS = (signal.SIGINT, signal.SIGTERM)

Argv = Sequence[str]


def path_of(name: str, given: Path | None = None) -> Path:
    """Raises TurntableError where it is not there."""
    path = given or PROGRAMS / name
    if not os.access(path, os.X_OK) or path.is_dir():
        expected = (
            "a program (--binary)" if given else "it to be built: make programs SYSTEM=shadowfax"
        )
        raise TurntableError(f"{path}: there is no such program; expected {expected}")
    return path


def debugged(argv: Argv, *, debugs: bool) -> list[str]:
    """Under gdb, if it is asked for."""
    if not debugs:
        return list(argv)
    gdb = shutil.which("gdb")
    if gdb is None:
        raise TurntableError("--debug: there is no gdb; expected Debian's package of this name")
    return [gdb, "--batch", "--quiet", "-ex", "run", "-ex", "backtrace", "--args", *argv]


class Program:
    """Its standard error goes to the log as it is; its standard output is the caller's."""

    def __init__(
        self, argv: Argv, log: Log, at_line: Callable[[str], None] = lambda line: None
    ) -> None:
        log.lines.info("running %s", shlex.join(argv))
        self._child = subprocess.Popen(
            [*_WITH_SCRIPT, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._copier = threading.Thread(target=self._copy, args=(log, at_line))
        self._copier.start()

    def _copy(self, log: Log, at_line: Callable[[str], None]) -> None:
        for line in self._child.stderr:
            log.copy(line)
            at_line(line)

    def output(self) -> Iterator[str]:
        yield from self._child.stdout

    def wait(self) -> int:
        """Its exit status; as a shell says it, where a signal has ended it."""
        status = self._child.wait()
        self._copier.join()
        return status if status >= 0 else 128 - status

    def send(self, number: int) -> None:
        self._child.send_signal(number)

    @contextlib.contextmanager
    def is_told_of_signals(self) -> Iterator[None]:
        """What would end the script ends the program, whose end the script waits for."""
        before = {
            number: signal.signal(number, lambda number, _: self.send(number)) for number in _ENDS
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
