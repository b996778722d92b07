"""A run -> its metadata, by Swan's kinds: '' (what it is), flags, platform. What was in the
environment only the command knows that has begun the run: kind environ.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turntable.results import Run
from turntable.systems.swan import flags
from turntable.systems.swan.platform import platform_of
from turntable.systems.swan.profile import profile_of
from turntable_core.plan import Plan

GENERAL, FLAGS, ENVIRON, PLATFORM = "", "flags", "environ", "platform"

# Keys of the general kind that configurations are made of again.
CELLS, ITERATIONS, ROUNDS, PEAKS = "cells", "iterations", "repetitions", "peaks"
INVENTORIES = "inventories"  # JSON; each below the checkout, absolute, or a list of hosts
INVENTORY_DIGEST = "inventory_digest"  # of the testbed that they describe
JOBS = "jobs"  # JSON: of each cell, name -> the job as it was started
PLANNED, MEASURED = "planned_iterations", "measured_iterations"

Row = tuple[str, str, str]  # kind, key, value


def of_run(run: Run) -> list[Row]:
    general = ((GENERAL, key, value) for key, value in _general(run).items())
    told = ((FLAGS, name, value) for name, value in _flags(run).items())
    machine = ((PLATFORM, name, value) for name, value in platform_of(run.cells))
    return [*general, *told, *machine]


def _general(run: Run) -> dict[str, str]:
    plan, first = run.plan, run.plan.cells[0].parameters
    peaks = {cell.id: profile_of(cell).peak_per_s for cell in run.cells}
    began = min((attempt.began_at_ns for attempt in run.attempts), default=None)
    return {
        "command_arguments": json.dumps(run.manifest.get("extra_vars", {}), sort_keys=True),
        "experiment_name": plan.experiment,
        "title": plan.title,
        "profile": plan.profile,
        "fidelity_class": run.fidelity_class,
        "peak_load": ", ".join(f"{peak:.0f}" for peak in dict.fromkeys(peaks.values()) if peak),
        "load_points": str(len(profile_of(run.cells[0]).loads)),
        "load_duration": f"{first['measure_s']:g}s",
        "began_at_ns": str(began or ""),
        INVENTORIES: json.dumps(run.manifest.get("inventories", [])),
        INVENTORY_DIGEST: run.manifest.get("inventory_digest", ""),
        ROUNDS: str(plan.rounds),
        PEAKS: json.dumps(peaks, sort_keys=True),
        CELLS: json.dumps({cell.id: dict(cell.parameters) for cell in plan.cells}),
        JOBS: json.dumps(_jobs(plan)),
        ITERATIONS: iterations_digest(plan),
        PLANNED: str(sum(turn.expected_iterations for turn in run.turns)),
        MEASURED: str(sum(len(turn.measurements) for turn in run.turns)),
    }


def _jobs(plan: Plan) -> dict[str, dict[str, Any]]:
    """Of the cells in their order."""
    found: dict[str, dict[str, Any]] = {cell.id: {} for cell in plan.cells}
    for turn in plan.turns:
        for data in (iteration.data for iteration in turn.iterations):
            if data.get("job"):
                found[turn.cell.id][data["aggressor"]] = data["job"]
    return found


def iterations_digest(plan: Plan) -> str:
    """What is measured in which order, whatever the cells' ids: they are hashes of parameters."""
    order: dict[str, int] = {}
    every: list[Any] = []
    for turn in plan.turns:
        place = order.setdefault(turn.cell.id, len(order))
        every.append([place, turn.round, [dict(each.data) for each in turn.iterations]])
    return hashlib.sha256(json.dumps(every, sort_keys=True).encode()).hexdigest()


def _flags(run: Run) -> Mapping[str, str]:
    cells = [cell.parameters for cell in run.plan.cells]
    return flags.of_parameters(levels(cells), run.plan.rounds)


def levels(cells: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Parameter -> its values over the cells, each once, in their order."""
    return {name: list(_each(cells, name)) for name in dict.fromkeys(n for c in cells for n in c)}


def _each(cells: Sequence[Mapping[str, Any]], name: str) -> Iterator[Any]:
    seen: set[str] = set()
    for cell in cells:
        if name in cell and (text := json.dumps(cell[name])) not in seen:
            seen.add(text)
            yield cell[name]
