"""Bounds of plans that several modules ask for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turntable_core.plan import Cell
    from turntable_core.system import System

LEAST_ROUNDS = 3  # whose interval says something about a cell's precision

# Planning says how far it is, so that only a planner that hangs must end by itself.
_LEAST_PLANNING_S = 600.0
_BUSY = 40  # a question takes as many times its processor time on a machine with much else to do


def planning_deadline_s(system: System, cells: Iterable[Cell]) -> float:
    """Of one call of the system's planner."""
    longest_s = max(system.planning_s(cell.parameters) for cell in cells)
    return max(_LEAST_PLANNING_S, _BUSY * longest_s)
