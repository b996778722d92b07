"""What a run will take: time, disk and memory, before anything is started."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean

from turntable_core import journal, timeline
from turntable_core.errors import TurntableError
from turntable_core.plan import Iteration, Plan, Turn
from turntable_core.system import Preparation
from turntable_core.testbed import Testbed

# Measured on a virtual machine with two cores; earlier runs on this machine tell better.
OVERHEAD_S = 0.4  # of an iteration beyond warm-up and window
START_S = 4.0  # nodes up, and down at the end
TURN_S = 1.0  # tables, and stores that are there already

RAW_BYTES = 20_000  # of an iteration's raw files

# So many runs of the past are asked for their overhead.
EARLIER_RUNS = 5

Work = Sequence[tuple[Turn, Iteration]]  # what is to be measured


@dataclass(frozen=True)
class Overhead:
    """Of an iteration, and how it is known: from so many earlier runs, or assumed (0)."""

    seconds: float
    runs: int


@dataclass(frozen=True)
class Estimate:
    iterations: int
    window_s: float  # warm-up and measuring, all iterations
    overhead: Overhead
    turns: int
    preparation: Preparation  # of these turns, as their system has it
    raw_bytes: int

    @property
    def setup_s(self) -> float:
        return START_S + self.turns * TURN_S if self.turns else 0.0

    @property
    def total_s(self) -> float:
        measuring_s = self.window_s + self.iterations * self.overhead.seconds
        return self.setup_s + self.preparation.seconds + measuring_s


def estimate(plan: Plan, work: Work, testbed: Testbed, overhead: Overhead) -> Estimate:
    turns = list({(turn.cell.id, turn.round): turn for turn, _ in work}.values())
    windows = (plan.system.windows(turn.cell.parameters) for turn, _ in work)
    return Estimate(
        iterations=len(work),
        window_s=sum(window.loaded_s for window in windows),
        overhead=overhead,
        turns=len(turns),
        preparation=plan.system.preparation(turns, testbed),
        raw_bytes=len(work) * RAW_BYTES,
    )


def overhead_of_earlier_runs(results: Path) -> Overhead:
    """Mean over the iterations of the newest runs in `results`, of any experiment that starts no
    nodes afresh after every iteration.
    """
    journals = sorted(results.glob("*/*/journal.ndjson"), key=_changed_at, reverse=True)
    usual = (path for path in journals if not _restarts_nodes(path.with_name("plan.json")))
    means = []
    for path in islice(usual, EARLIER_RUNS):
        try:
            attempts = journal.read(path)
        except TurntableError:
            continue
        own = [attempt for attempt in attempts if attempt.taken_from is None]
        values = [attempt.overhead_s for attempt in own if attempt.overhead_s is not None]
        if values:
            means.append(fmean(values))
    return Overhead(fmean(means), len(means)) if means else Overhead(OVERHEAD_S, 0)


def _restarts_nodes(plan_file: Path) -> bool:
    try:
        events = timeline.read(json.loads(plan_file.read_bytes())["timeline"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return timeline.restarts_nodes(events)


@dataclass(frozen=True)
class Disk:
    """What a run writes to one file system."""

    directories: Sequence[Path]
    wanted_bytes: int
    free_bytes: int


def disks(expected: Estimate, results: Path) -> list[Disk]:
    needs = expected.preparation
    wanted = [(results, expected.raw_bytes)]
    if needs.disk_on:
        wanted.append((needs.disk_on, needs.disk_bytes))
    parts: dict[int, list[tuple[Path, int]]] = {}
    for directory, count in wanted:
        parts.setdefault(disk_of(directory), []).append((directory, count))
    return [
        Disk([path for path, _ in part], sum(n for _, n in part), free_bytes(part[-1][0]))
        for part in parts.values()
    ]


def free_bytes(path: Path) -> int:
    """Of the file system that `path` is on, or will be on."""
    return shutil.disk_usage(_existing(path)).free


def disk_of(path: Path) -> int:
    """The same number for all that is, or will be, on one file system."""
    return _existing(path).stat().st_dev


def _existing(path: Path) -> Path:
    """The path, or what is there of those above it."""
    while not path.exists():
        path = path.parent
    return path


def free_memory_bytes() -> int:
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
