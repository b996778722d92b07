"""Looks at processes, by their ids."""

from __future__ import annotations

import os
import time
from pathlib import Path

DEADLINE_S = 20.0


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def await_end(pids: list[int]) -> None:
    """Until none of them runs; fails after a generous time."""
    end = time.monotonic() + DEADLINE_S
    while running := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < end, f"still running: {running}"
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Neither gone nor a zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def await_file(path: Path) -> str:
    """The content of a file, as soon as it has a line."""
    end = time.monotonic() + DEADLINE_S
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < end, f"{path} was not written"
        time.sleep(0.01)
    return path.read_text()
