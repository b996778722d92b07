"""What follows from profiles for a planner: capacity, isolation, core allocation."""

from __future__ import annotations

from collections.abc import Sequence

from turntable.grid import Table
from turntable.systems.swan.capacity import capacity_tables
from turntable.systems.swan.cores import core_tables
from turntable.systems.swan.isolation import isolation_tables
from turntable.systems.swan.profile import Profile


def planning_tables(profiles: Sequence[Profile]) -> list[Table]:
    return [*capacity_tables(profiles), *isolation_tables(profiles), *core_tables(profiles)]
