"""Spec at one scale -> cells x rounds x iterations.

A cell is one combination of factor levels with all constants resolved; its id is a hash of those
parameters, so the same parameters have the same id in every run. A turn is one round of a cell: one
pass of the servers through the rotation.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from turntable_core.errors import MISSING, InputError, TurntableError
from turntable_core.methods import meaningless

if TYPE_CHECKING:  # reading specs takes jsonschema, whose import would slow every phase down
    from turntable_core.spec import Scale

PLAN_FORMAT = 1


@dataclass(frozen=True)
class Composition:
    """How requests fall onto partitions: shares sum to 1 (less the share a cache absorbs)."""

    shares: tuple[float, ...]
    normalized: float | None  # None where no server, or some server, has nothing to do
    imbalance: float | None


@dataclass(frozen=True)
class WriteThrough:
    """What a model of a write-through cache says (docs/workloads.md §6): the rates of every
    placement of the rotation, in units of a server's capacity, for one duration of value updates.
    """

    update_round_trip: float  # u c
    # Per iteration: bottleneck by switch and server, rotated partition by switch and server.
    placements: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True)
class Prediction:
    """What the workload analyzer says about one turn."""

    bottleneck: int  # the busiest partition of the round's own trace
    infinite: Composition  # of the distribution itself
    trace: Composition  # of the finite, seeded traces that the clients replay
    keys: tuple[int, ...] = ()  # distinct ones in the traces, by partition
    requests: tuple[float, ...] = ()  # shares of the traces' requests, cached or not, by partition
    write_through: tuple[WriteThrough, ...] = ()  # ascending; of methods whose writes need updates


@dataclass(frozen=True)
class Iteration:
    """One placement: the bottleneck partition on server host 0, and a rotated one on server host 1
    (none in iteration 0).
    """

    index: int
    bottleneck: int
    rotated: int | None

    @property
    def partitions(self) -> list[int]:
        return [self.bottleneck] if self.rotated is None else [self.bottleneck, self.rotated]


@dataclass(frozen=True)
class Cell:
    id: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    cell: Cell
    round: int
    prediction: Prediction

    @property
    def iterations(self) -> list[Iteration]:
        return rotation(self.cell.parameters["servers"], self.prediction.bottleneck)


@dataclass(frozen=True)
class Plan:
    experiment: str
    profile: str
    system: str
    title: str
    rounds: int
    deadlines: Mapping[str, float]
    validity: Mapping[str, Any]
    reference: str | None  # CSV of published results, relative to experiments/
    turns: tuple[Turn, ...]

    @property
    def iteration_count(self) -> int:
        return sum(len(turn.iterations) for turn in self.turns)

    @property
    def cells(self) -> list[Cell]:
        return list({turn.cell.id: turn.cell for turn in self.turns}.values())

    def turn(self, cell_id: str, round_: int) -> Turn:
        return next(turn for turn in self.turns if (turn.cell.id, turn.round) == (cell_id, round_))


def rotation(servers: int, bottleneck: int) -> list[Iteration]:
    """Iteration 0: the bottleneck alone;

    then the bottleneck with every other partition, ascending (the paper's server rotation).
    """
    others = [partition for partition in range(servers) if partition != bottleneck]
    return [Iteration(0, bottleneck, None)] + [
        Iteration(i, bottleneck, other) for i, other in enumerate(others, start=1)
    ]


def cell_id(parameters: Mapping[str, Any]) -> str:
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def cells_of(scale: Scale) -> list[Cell]:
    """The product of the factors, in the order of the spec, with every constant resolved.

    A parameter without a meaning for the cell's method is left out: its levels are one cell.
    """
    names = list(scale.factors)
    cells: dict[str, Cell] = {}
    for levels in itertools.product(*scale.factors.values()):
        chosen = dict(zip(names, map(whole, levels), strict=True))
        parameters = chosen | {
            name: whole(_resolve(scale, name, value, chosen))
            for name, value in scale.constants.items()
        }
        _check_complete(scale, parameters)
        meant = {
            k: v
            for k, v in parameters.items()
            if k not in meaningless(parameters.get("method", ""))
        }
        cell = Cell(cell_id(meant), meant)
        cells.setdefault(cell.id, cell)
    return list(cells.values())


def make_plan(
    scale: Scale, cells: Sequence[Cell], predict: Callable[[Mapping[str, Any], int], Prediction]
) -> Plan:
    """cells: of cells_of(scale). predict(parameters, round) asks the workload analyzer."""
    places = list(itertools.product(cells, range(scale.rounds)))
    # Each prediction is a process of its own that takes seconds.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        predictions = pool.map(lambda place: predict(place[0].parameters, place[1]), places)
        turns = [Turn(*place, made) for place, made in zip(places, predictions, strict=True)]
    experiment = scale.experiment
    return Plan(
        experiment=experiment.id,
        profile=scale.profile,
        system=experiment.system,
        title=experiment.document["title"],
        rounds=scale.rounds,
        deadlines=scale.deadlines,
        validity=scale.validity,
        reference=experiment.document.get("reference"),
        turns=tuple(turns),
    )


def to_json(plan: Plan) -> dict[str, Any]:
    """The content of plan.json;

    iterations are listed so that readers need not know the rotation.
    """
    document = {"format": PLAN_FORMAT} | {
        key: value for key, value in asdict(plan).items() if key != "turns"
    }
    cells = {turn.cell.id: dict(turn.cell.parameters) for turn in plan.turns}
    turns = [
        {
            "cell": turn.cell.id,
            "round": turn.round,
            "prediction": asdict(turn.prediction),
            "iterations": [
                {"index": it.index, "partitions": it.partitions} for it in turn.iterations
            ],
        }
        for turn in plan.turns
    ]
    return document | {"cells": cells, "turns": turns}


def from_json(document: Mapping[str, Any]) -> Plan:
    if not isinstance(document, Mapping):
        raise TurntableError("plan.json: this is no JSON object; restore it from a copy")
    if document.get("format") != PLAN_FORMAT:
        raise TurntableError(
            f"plan.json: format {document.get('format')!r} is not {PLAN_FORMAT}; "
            "it was written by another version"
        )
    turns = []
    for item in document["turns"]:
        prediction = item["prediction"]
        infinite, trace = (
            Composition(
                tuple(prediction[kind]["shares"]),
                prediction[kind]["normalized"],
                prediction[kind]["imbalance"],
            )
            for kind in ("infinite", "trace")
        )
        cell = Cell(item["cell"], document["cells"][item["cell"]])
        made = Prediction(
            prediction["bottleneck"],
            infinite,
            trace,
            tuple(prediction.get("keys", ())),
            tuple(prediction.get("requests", ())),
            tuple(
                WriteThrough(part["update_round_trip"], tuple(map(tuple, part["placements"])))
                for part in prediction.get("write_through", ())
            ),
        )
        turns.append(Turn(cell, item["round"], made))
    keys = (
        "experiment",
        "profile",
        "system",
        "title",
        "rounds",
        "deadlines",
        "validity",
        "reference",
    )
    return Plan(**{key: document[key] for key in keys}, turns=tuple(turns))


def all_iterations(plan: Plan) -> Iterator[tuple[Turn, Iteration]]:
    for turn in plan.turns:
        for iteration in turn.iterations:
            yield turn, iteration


def whole(value: Any) -> Any:
    """16.0 as 16: the same cell, and programs take no other for a whole number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _resolve(scale: Scale, name: str, value: Any, levels: Mapping[str, Any]) -> Any:
    """A constant's value in one cell.

    `{by: factor, values: {level: value}, otherwise: value}` selects by a factor's level.
    """
    if not isinstance(value, Mapping):
        return value
    where = scale.origins[name]
    if value["by"] not in levels:
        expected = f"a factor of this experiment: {', '.join(levels)}"
        raise InputError(where, f"{name}.by", value["by"], expected)
    level = levels[value["by"]]
    if level in value["values"]:
        return value["values"][level]
    if "otherwise" not in value:
        expected = f"a value for {value['by']} {level} too, or `otherwise`"
        raise InputError(where, f"{name}.values", list(value["values"]), expected)
    return value["otherwise"]


def _check_complete(scale: Scale, parameters: Mapping[str, Any]) -> None:
    required = scale.experiment.system_schema["$defs"]["parameters"]["required"]
    for name in required:
        if name not in parameters:
            where = scale.experiment.source.where(("profiles", scale.profile))
            expected = (
                f"a value in `constants` or `factors`, of the experiment or of its profile "
                f"{scale.profile}"
            )
            raise InputError(where, name, MISSING, expected)
