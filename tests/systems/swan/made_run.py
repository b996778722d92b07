"""A run directory as nodes would leave it, with a scripted latency of every aggressor and load."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from made_raw import write_attempt

from turntable_core import plan
from turntable_core.journal import OK, attempt_directory
from turntable_core.plan import Cell, Iteration, Plan, Turn
from turntable_systems.swan import SYSTEM

from .measured import (
    PARAMETERS,
    VALIDITY,
    aggressor_stats,
    client_stats,
    colocator_stats,
    host_stats,
)

NONE = ("Baseline",)
MANIFEST = {
    "fidelity_class": "emulated",
    "created_at": "2026-11-26T06:00:00+00:00",
    "extra_vars": {"profile": "smoke"},
    "inventories": ["inventories/embedded-ssh"],
    "inventory_digest": "a1",
    "machine": {"cpus": 2, "memory_bytes": 4 * 10**9},
}
BASELINE_REPEATS = 3


@dataclass(frozen=True)
class Scripted:
    """What one iteration is to measure."""

    p99_us: float
    achieved: float = 1.0
    progress_per_s: float | None = 100.0
    peak_per_s: float = 10_000.0
    client: Mapping[str, Any] | None = None  # changes of the raw statistics
    colocator: Mapping[str, Any] | None = None


Script = Callable[[Mapping[str, Any], Mapping[str, Any], int], Scripted]


def make_run(
    parent: Path,
    script: Script,
    aggressors: Sequence[str] = ("placebo", "busy"),
    loads: Sequence[float] = (0.2, 0.5, 1.0),
    rounds: int = 3,
    cells: Sequence[Mapping[str, Any]] = ({},),
    name: str = "made",
    leave_out: Callable[[Mapping[str, Any]], bool] = lambda data: False,
    jobs: Mapping[str, Any] | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> Path:
    """script: (parameters, data of the iteration, round). cells: changes of parameters. leave_out:
    iterations that nobody measured. jobs: by name, as they were started. manifest: changes of it.
    """
    made = make_plan(aggressors, loads, rounds, cells, jobs or {})
    run = parent / made.experiment / name
    run.mkdir(parents=True)
    (run / "plan.json").write_text(json.dumps(plan.to_json(made)))
    (run / "manifest.json").write_text(json.dumps(MANIFEST | dict(manifest or {})))
    lines = [
        json.dumps(_measure(run, turn, iteration, script)) + "\n"
        for turn in made.turns
        for iteration in turn.iterations
        if not leave_out(iteration.data)
    ]
    (run / "journal.ndjson").write_text("".join(lines))
    return run


def make_plan(
    aggressors: Sequence[str],
    loads: Sequence[float],
    rounds: int,
    cells: Sequence[Mapping[str, Any]],
    jobs: Mapping[str, Any],
) -> Plan:
    rows = {"aggressors": "+".join(aggressors)}
    columns = {"loads": "+".join(f"{load:g}" for load in loads)}
    made = [_cell(PARAMETERS | rows | each | columns) for each in cells]
    iterations = tuple(_iterations(aggressors, loads, jobs))
    return Plan(
        experiment="swan_sensitivity",
        profile="smoke",
        system_name="swan",
        title="Sensitivity profile of memcached",
        rounds=rounds,
        deadlines={},
        validity=VALIDITY,
        reference=None,
        turns=tuple(
            Turn(cell, round_, iterations, None) for cell, round_ in product(made, range(rounds))
        ),
    )


def _cell(parameters: Mapping[str, Any]) -> Cell:
    """As the core makes it: without what says nothing about it."""
    meaningless = SYSTEM.meaningless(parameters)
    meant = {name: value for name, value in parameters.items() if name not in meaningless}
    return Cell(plan.cell_id(meant), meant)


def _iterations(
    aggressors: Sequence[str], loads: Sequence[float], jobs: Mapping[str, Any]
) -> list[Iteration]:
    repeats = [("Baseline", repeat) for repeat in range(BASELINE_REPEATS)]
    rows = [*repeats, *((name, 0) for name in aggressors)]
    return [
        Iteration(
            index,
            f"{name} at {load:g}",
            {
                "aggressor": name,
                "load": load,
                "load_index": loads.index(load),
                "repeat": repeat,
                "job": jobs.get(name),
            },
        )
        for index, ((name, repeat), load) in enumerate(product(rows, loads))
    ]


def _measure(run: Path, turn: Turn, iteration: Iteration, script: Script) -> dict[str, Any]:
    directory = run / attempt_directory(turn.cell.id, turn.round, iteration.index, 1)
    scripted = script(turn.cell.parameters, iteration.data, turn.round)
    documents = {"iteration.json": {"start_at_ns": 10**18}, **_documents(iteration.data, scripted)}
    began_at_ns = 1_795_672_800 * 10**9 + (1000 * turn.round + iteration.index) * 10**10
    return {
        "cell": turn.cell.id,
        "round": turn.round,
        "iteration": iteration.index,
        "attempt": 1,
        "status": OK,
        "failure_class": None,
        "message": None,
        "began_at_ns": began_at_ns,
        "ended_at_ns": began_at_ns + 8 * 10**9,
        "overhead_s": 1.5,
        "files": write_attempt(directory, documents),
    }


def _documents(data: Mapping[str, Any], scripted: Scripted) -> dict[str, Any]:
    name = data["aggressor"]
    client = client_stats(scripted.p99_us, data["load"] * scripted.peak_per_s, scripted.achieved)
    client |= {"peak_per_s": scripted.peak_per_s}
    job = None if name in NONE else aggressor_stats(name, scripted.progress_per_s)
    server = colocator_stats(job)
    return {
        "server0.begin.json": _document(
            "server0", "begin", {("supervisor", "host_stats"): host_stats()}
        ),
        "client0.json": _document(
            "client0",
            "collect",
            {
                ("mcload-node", "stats"): client
                | {"peak_per_s": scripted.peak_per_s}
                | dict(scripted.client or {})
            },
        ),
        "server0.json": _document(
            "server0",
            "collect",
            {
                ("colocator", "stats"): server | dict(scripted.colocator or {}),
                ("supervisor", "host_stats"): host_stats(elapsed_ns=10**10),
            },
        ),
    }


def _document(host: str, phase: str, results: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    answers = [
        {"node": node, "command": command, "result": result}
        for (node, command), result in results.items()
    ]
    return {"format": 1, "host": host, "phase": phase, "answers": answers}
