"""When playbooks worked on a run or a series of runs: plays.ndjson, a line at the begin and one at
the end of each. One that was killed has no end: what is known of it last counts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from turntable_core import files

FILE = "plays.ndjson"
BEGAN, ENDED = "began_at_ns", "ended_at_ns"

Span = tuple[int, int]  # CLOCK_REALTIME nanoseconds


def begin(directory: Path, at_ns: int | None = None) -> None:
    files.append_line(directory / FILE, {BEGAN: at_ns or time.time_ns()})


def end(directory: Path) -> None:
    """Of the play that began last."""
    files.append_line(directory / FILE, {ENDED: time.time_ns()})


def spans(directory: Path, known_ns: Iterable[int] = ()) -> list[Span]:
    """Of every play. known_ns: instants at which something is known to have happened in one."""
    instants = sorted(known_ns)
    marks = list(_read(directory / FILE))
    found = []
    for index, (name, at_ns) in enumerate(marks):
        if name != BEGAN:
            continue
        next_name, next_ns = marks[index + 1] if index + 1 < len(marks) else (BEGAN, time.time_ns())
        if next_name == BEGAN:
            next_ns = max((i for i in instants if at_ns <= i <= next_ns), default=at_ns)
        found.append((at_ns, next_ns))
    if not found and instants:  # of an older version
        return [(instants[0], instants[-1])]
    return found


def seconds(found: Iterable[Span]) -> float:
    return sum(end_ns - begin_ns for begin_ns, end_ns in found) / 1e9


def _read(path: Path) -> Iterator[tuple[str, int]]:
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return
    for line in lines:
        ((name, at_ns),) = json.loads(line).items()
        yield name, at_ns
