"""A run directory as nodes would leave it, with made-up numbers that obey Little's law."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from made_raw import write_attempt

from turntable.raw import RawAnswer
from turntable_core import plan
from turntable_core.journal import OK, attempt_directory
from turntable_core.plan import Turn
from turntable_core.spec import choose_profile, load_experiment
from turntable_systems.shadowfax import SYSTEM

from .measured import THREAD, answers, client_stats, histogram, text_stats

_REPOSITORY = Path(__file__).resolve().parents[3]


def make_run(parent: Path, experiment: str = "batch_size", **levels: list[Any]) -> Path:
    """levels: of factors, instead of the experiment's."""
    read = load_experiment(_REPOSITORY / f"experiments/shadowfax/{experiment}.yml")
    scale = choose_profile(read, "embedded")
    scale.factors.update(levels)
    planner = SYSTEM.planner(Path("/nowhere"), 1, lambda: None)
    made = plan.make_plan(scale, plan.cells_of(scale), planner)
    run = parent / "made"
    run.mkdir()
    (run / "plan.json").write_text(json.dumps(plan.to_json(made)))
    (run / "manifest.json").write_text(json.dumps({"fidelity_class": "emulated"}))
    lines = [json.dumps(_measure(run, turn)) + "\n" for turn in made.turns]
    (run / "journal.ndjson").write_text("".join(lines))
    return run


def _measure(run: Path, turn: Turn) -> dict[str, Any]:
    directory = run / attempt_directory(turn.cell.id, turn.round, 0, 1)
    documents: dict[str, Any] = {"iteration.json": {"start_at_ns": 10**18}}
    for one in _answers(turn.cell.parameters):
        name = f"{one.host}.json" if one.phase == "collect" else f"{one.host}.{one.phase}.json"
        document = documents.setdefault(
            name, {"format": 1, "host": one.host, "phase": one.phase, "answers": []}
        )
        said = {"node": one.node, "command": one.command, "result": one.result}
        document["answers"].append(said)
    return {
        "cell": turn.cell.id,
        "round": turn.round,
        "iteration": 0,
        "attempt": 1,
        "status": OK,
        "failure_class": None,
        "message": None,
        "began_at_ns": 10**18,
        "ended_at_ns": 10**18 + 1,
        "overhead_s": 1.5,
        "files": write_attempt(directory, documents),
    }


def _answers(parameters: Mapping[str, Any]) -> list[RawAnswer]:
    """A batch costs 20 us and 0.2 us for each of its operations."""
    size, pipeline = parameters["batch_operations"], parameters["pipeline"]
    batch_us = 20 + 0.2 * size
    batches = round(parameters["measure_s"] * 1e6 / batch_us)
    client = client_stats(
        window_ns=round(parameters["measure_s"] * 1e9),
        threads=[THREAD],
        operations=batches * size,
        adds=batches * size,
        batches=batches,
        round_trip_ns=histogram({pipeline * batch_us: batches}),
        round_trip_mean_ns=pipeline * batch_us * 1e3,
    )
    sums = (3_000_000, parameters["keys"] // 2)
    if parameters["store"] == "shadowfax":
        return answers(client, sums=sums)
    return answers(client, text_stats(), sums, node="textstore-node")
