"""A block: the units of one repetition, in the order in which they are measured.

The order of aggressors and loads is drawn, so that what drifts through a block disturbs no row
more than another. Rows without an aggressor come at its beginning, between and at its end: they
show how much the machine itself has changed. The original has a fixed order and one baseline.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from turntable_core.plan import Iteration
from turntable_systems.swan import aggressors
from turntable_systems.swan.loads import loads

_Unit = tuple[str, int]  # aggressor, index of the load


def count(parameters: Mapping[str, Any]) -> int:
    rows = len(aggressors.names(parameters)) + parameters["baselines"]
    return rows * len(loads(parameters))


def iterations(parameters: Mapping[str, Any], round_: int) -> tuple[Iteration, ...]:
    """One per aggressor and load, and one per load of each baseline row."""
    draw = random.Random(f"{parameters['seed']} {round_}")
    indices = range(len(loads(parameters)))
    units = [(name, index) for name in aggressors.names(parameters) for index in indices]
    draw.shuffle(units)
    ordered = _with_baselines(units, indices, parameters["baselines"], draw)
    return tuple(
        _iteration(parameters, number, unit, repeat)
        for number, (unit, repeat) in enumerate(ordered)
    )


def _with_baselines(
    units: Sequence[_Unit], indices: Sequence[int], rows: int, draw: random.Random
) -> list[tuple[_Unit, int]]:
    """Units with their repeat: a baseline row, a part of the units, and so on; the last row at the
    end, where there are several.
    """
    parts = max(rows - 1, 1)
    bounds = [len(units) * part // parts for part in range(parts + 1)]
    ordered: list[tuple[_Unit, int]] = []
    for row in range(rows):
        loads_of_row = draw.sample(indices, len(indices))
        ordered += [((aggressors.BASELINE, index), row) for index in loads_of_row]
        if row < parts:
            ordered += [(unit, 0) for unit in units[bounds[row] : bounds[row + 1]]]
    return ordered


def _iteration(parameters: Mapping[str, Any], number: int, unit: _Unit, repeat: int) -> Iteration:
    name, index = unit
    load = loads(parameters)[index]
    job = None if name == aggressors.BASELINE else dict(aggressors.of(parameters, name))
    data = {"aggressor": name, "load": load, "load_index": index, "repeat": repeat, "job": job}
    return Iteration(number, f"{name} at {load:.3g} of the peak", data)
