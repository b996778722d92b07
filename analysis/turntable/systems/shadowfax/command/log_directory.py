"""Where the scripts write: logs/KIND/TIME/NAME.log, of which logs/KIND/latest is the newest.

A line is `[unix_seconds.nanoseconds]::LEVEL::file:function:line:: message`, as in the original;
what a program prints goes into the file as it is. All goes to standard error as well.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from datetime import datetime
from pathlib import Path

LATEST = "latest"
_LOGGER = "shadowfax"


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # The record's own instant is not exact to a nanosecond. One for all who write it:
        at_ns = record.__dict__.setdefault("at_ns", time.time_ns())
        seconds, nanoseconds = divmod(at_ns, 10**9)
        place = f"{record.filename}:{record.funcName}:{record.lineno}"
        return f"[{seconds}.{nanoseconds:09d}]::{record.levelname}::{place}:: {record.getMessage()}"


def make(logs: Path, kind: str, began: datetime) -> Path:
    """A new directory of logs/KIND, which is `latest` from now on."""
    parent = logs / kind
    parent.mkdir(parents=True, exist_ok=True)
    time_text = began.isoformat(timespec="seconds")
    number = 1
    while True:
        directory = parent / (time_text if number == 1 else f"{time_text}.{number}")
        try:
            directory.mkdir()
            break
        except FileExistsError:  # another one of this second
            number += 1
    _point_at(parent / LATEST, directory.name)
    return directory


def _point_at(link: Path, name: str) -> None:
    """In one step: whoever follows the link meanwhile finds the old directory or the new one."""
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(name)
    fresh.replace(link)


class Log:
    """A file and standard error at once."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", errors="replace")
        self.lines = logging.getLogger(f"{_LOGGER}.{path.stem}")
        self.lines.setLevel(logging.INFO)
        self.lines.propagate = False
        self.lines.handlers = [logging.StreamHandler(self._file), logging.StreamHandler(sys.stderr)]
        for handler in self.lines.handlers:
            handler.setFormatter(_Lines())

    def copy(self, line: str) -> None:
        """What a program has printed."""
        for to in (self._file, sys.stderr):
            to.write(line)
            to.flush()

    def close(self) -> None:
        self.lines.handlers = []
        self._file.close()
