"""Runs that take hours, or more disk than there is, begin only when that is meant: -e long=true."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from turntable_core import estimate
from turntable_core.errors import TurntableError
from turntable_core.estimate import START_S, TURN_S, Estimate, Overhead
from turntable_core.plan import Cell
from turntable_core.proposal import Proposal
from turntable_core.system import System
from turntable_core.text_table import duration, size

LONG_S = 3600.0
_ANYWAY = "; if that is meant, add -e long=true (--check shows the plan)"


def check_before_planning(
    system: System, cells: Iterable[Cell], rounds: int, overhead: Overhead
) -> None:
    """Of a new run: planning it may take minutes by itself. Raises TurntableError."""
    refuse(*_before_planning(system, cells, rounds, overhead))


def check_series_before_planning(
    proposals: Iterable[Proposal], overhead: Overhead, share: bool
) -> None:
    """Of new runs together. share: cells that several of them have are measured once."""
    planning_s = measuring_s = 0.0
    known: set[tuple[object, ...]] = set()
    for proposal in proposals:
        scale, system = proposal.scale, proposal.experiment.system
        keys = {cell.id: (system.name, cell.id, scale.timeline) for cell in proposal.cells}
        cells = [cell for cell in proposal.cells if not share or keys[cell.id] not in known]
        known |= {*keys.values()}
        parts = _before_planning(system, cells, scale.rounds, overhead)
        planning_s, measuring_s = planning_s + parts[0], measuring_s + parts[1]
    refuse(planning_s, measuring_s)


def _before_planning(
    system: System, cells: Iterable[Cell], rounds: int, overhead: Overhead
) -> tuple[float, float]:
    """Time to plan and to measure."""
    planning_s = measuring_s = 0.0
    for cell in cells:
        window_s = system.windows(cell.parameters).loaded_s
        iterations = system.iteration_count(cell.parameters)
        measuring_s += rounds * (TURN_S + iterations * (window_s + overhead.seconds))
        planning_s += rounds * system.planning_s(cell.parameters)
    return planning_s / len(os.sched_getaffinity(0)), START_S + measuring_s


def refuse(planning_s: float, measuring_s: float) -> None:
    """Raises TurntableError for what takes long."""
    if (total_s := planning_s + measuring_s) > LONG_S:
        planned = f", {duration(planning_s)} of it to be planned" if planning_s else ""
        raise TurntableError(
            f"this run would take about {duration(total_s)}{planned}; expected at most "
            f"{duration(LONG_S)}{_ANYWAY}"
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
    refuse(0.0, expected.total_s)
