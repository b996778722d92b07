"""Runs that take hours, or more disk than there is, begin only when that is meant: -e long=true."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from turntable_core import estimate
from turntable_core.errors import TurntableError
from turntable_core.estimate import START_S, TURN_S, Estimate, Overhead
from turntable_core.plan import Cell
from turntable_core.system import System
from turntable_core.text_table import duration, size

LONG_S = 3600.0
_ANYWAY = "; if that is meant, add -e long=true (--check shows the plan)"


def check_before_planning(
    system: System, cells: Iterable[Cell], rounds: int, overhead: Overhead
) -> None:
    """Of a new run: planning it may take minutes by itself. Raises TurntableError."""
    planning_s = measuring_s = 0.0
    for cell in cells:
        window_s = system.windows(cell.parameters).loaded_s
        iterations = system.iteration_count(cell.parameters)
        measuring_s += rounds * (TURN_S + iterations * (window_s + overhead.seconds))
        planning_s += rounds * system.planning_s(cell.parameters)
    planning_s /= len(os.sched_getaffinity(0))
    if (total_s := START_S + planning_s + measuring_s) > LONG_S:
        raise TurntableError(
            f"this run would take about {duration(total_s)}, {duration(planning_s)} of it to be "
            f"planned; expected at most {duration(LONG_S)}{_ANYWAY}"
        )


def check_plan(expected: Estimate, results: Path) -> None:
    """What is left to be measured, when it is known exactly. Raises TurntableError."""
    for disk in estimate.disks(expected, results):
        if disk.wanted_bytes > disk.free_bytes:
            names = " and ".join(map(str, disk.directories))
            raise TurntableError(
                f"{names}: this run would write about {size(disk.wanted_bytes)}, "
                f"{size(disk.free_bytes)} are free there{_ANYWAY}"
            )
    if expected.total_s > LONG_S:
        raise TurntableError(
            f"this run would take about {duration(expected.total_s)}; expected at most "
            f"{duration(LONG_S)}{_ANYWAY}"
        )
