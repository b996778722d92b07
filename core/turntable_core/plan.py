"""Spec at one scale -> cells x rounds x iterations.

A cell is one combination of factor levels with all constants resolved; its id is a hash of those
parameters, so the same parameters have the same id in every run. A turn is one round of a cell: it
is configured once, then its iterations are measured. What an iteration is, the system plans.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from turntable_core import systems, timeline
from turntable_core.errors import MISSING, InputError, TurntableError
from turntable_core.system import Planned, System
from turntable_core.timeline import Event

if TYPE_CHECKING:  # reading specs takes jsonschema, whose import would slow every phase down
    from turntable_core.spec import Scale

PLAN_FORMAT = 2
# 1: iterations had no label, and the system's own facts stood beside their index.
_READ_FORMATS = (1, PLAN_FORMAT)


@dataclass(frozen=True)
class Iteration:
    """One unit of measurement, as its system planned it."""

    index: int  # from 0, in its turn
    label: str  # what people see of it
    data: Mapping[str, Any] = field(default_factory=dict)  # the system's own


@dataclass(frozen=True)
class Cell:
    id: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    cell: Cell
    round: int
    iterations: tuple[Iteration, ...]
    prediction: Any  # the system's own


@dataclass(frozen=True)
class Plan:
    experiment: str
    profile: str
    system_name: str
    title: str
    rounds: int
    deadlines: Mapping[str, float]
    validity: Mapping[str, Any]
    reference: str | None  # CSV of published results, relative to experiments/
    turns: tuple[Turn, ...]
    timeline: tuple[Event, ...] = ()  # of every iteration
    # Column of summary.csv -> share of its mean: no further round of a cell is measured when the
    # half-width of the interval is as small.
    precision: Mapping[str, float] = field(default_factory=dict)
    # Of the publication, as the experiment names them.
    figures: tuple[Mapping[str, str], ...] = ()

    @cached_property
    def system(self) -> System:
        return systems.find(self.system_name)

    @property
    def iteration_count(self) -> int:
        return sum(len(turn.iterations) for turn in self.turns)

    @property
    def cells(self) -> list[Cell]:
        return list({turn.cell.id: turn.cell for turn in self.turns}.values())

    def turn(self, cell_id: str, round_: int) -> Turn:
        return next(turn for turn in self.turns if (turn.cell.id, turn.round) == (cell_id, round_))


def cell_id(parameters: Mapping[str, Any]) -> str:
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def cells_of(scale: Scale) -> list[Cell]:
    """The product of the factors, in the order of the spec, with every constant resolved.

    A parameter without a meaning for a cell is left out: its levels are one cell.
    """
    names, system = list(scale.factors), scale.experiment.system
    cells: dict[str, Cell] = {}
    for levels in itertools.product(*scale.factors.values()):
        chosen = dict(zip(names, map(whole, levels), strict=True))
        parameters = chosen | {
            name: whole(_resolve(scale, name, value, chosen))
            for name, value in scale.constants.items()
        }
        _check_complete(scale, parameters)
        parameters = system.resolved(parameters)
        meaningless = system.meaningless(parameters)
        meant = {k: v for k, v in parameters.items() if k not in meaningless}
        cell = Cell(cell_id(meant), meant)
        cells.setdefault(cell.id, cell)
    return list(cells.values())


def make_plan(
    scale: Scale, cells: Sequence[Cell], planner: Callable[[Mapping[str, Any], int], Planned]
) -> Plan:
    """cells: of cells_of(scale). planner(parameters, round): the system's."""
    places = list(itertools.product(cells, range(scale.rounds)))
    # Each may be a process of its own that takes seconds.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        planned = pool.map(lambda place: planner(place[0].parameters, place[1]), places)
        turns = [
            Turn(*place, made.iterations, made.prediction)
            for place, made in zip(places, planned, strict=True)
        ]
    experiment = scale.experiment
    return Plan(
        experiment=experiment.id,
        profile=scale.profile,
        system_name=experiment.system.name,
        title=experiment.document["title"],
        rounds=scale.rounds,
        deadlines=scale.deadlines,
        validity=scale.validity,
        reference=experiment.document.get("reference"),
        turns=tuple(turns),
        timeline=scale.timeline,
        precision=scale.precision,
        figures=tuple(experiment.document.get("figures", ())),
    )


# Of plan.json and of Plan, in this order.
_KEYS = ("experiment", "profile", "title", "rounds", "deadlines", "validity", "reference")


def to_json(plan: Plan) -> dict[str, Any]:
    """The content of plan.json."""
    return {
        "format": PLAN_FORMAT,
        "system": plan.system_name,
        **{key: getattr(plan, key) for key in _KEYS},
        "timeline": timeline.to_json(plan.timeline),
        "precision": dict(plan.precision),
        "figures": list(plan.figures),
        "cells": {turn.cell.id: dict(turn.cell.parameters) for turn in plan.turns},
        "turns": [turn_to_json(turn) for turn in plan.turns],
    }


def turn_to_json(turn: Turn) -> dict[str, Any]:
    return {
        "cell": turn.cell.id,
        "round": turn.round,
        "prediction": _plain(turn.prediction),
        "iterations": [asdict(iteration) for iteration in turn.iterations],
    }


def from_json(document: Mapping[str, Any]) -> Plan:
    if not isinstance(document, Mapping):
        raise TurntableError("plan.json: this is no JSON object; restore it from a copy")
    if document.get("format") not in _READ_FORMATS:
        raise TurntableError(
            f"plan.json: format {document.get('format')!r} is none of "
            f"{', '.join(map(str, _READ_FORMATS))}; it was written by another version"
        )
    system = systems.find(document["system"])
    turns = [
        Turn(
            Cell(item["cell"], document["cells"][item["cell"]]),
            item["round"],
            tuple(_iteration(system, part) for part in item["iterations"]),
            system.read_prediction(item["prediction"]),
        )
        for item in document["turns"]
    ]
    facts = {key: document[key] for key in _KEYS} | _names(system, document)
    return Plan(
        system_name=system.name,
        turns=tuple(turns),
        timeline=timeline.read(document.get("timeline", ())),
        precision=document.get("precision", {}),
        figures=tuple(document.get("figures", ())),
        **facts,
    )


def all_iterations(plan: Plan) -> Iterator[tuple[Turn, Iteration]]:
    for turn in plan.turns:
        for iteration in turn.iterations:
            yield turn, iteration


def whole(value: Any) -> Any:
    """16.0 as 16: the same cell, and programs take no other for a whole number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _plain(prediction: Any) -> Any:
    return asdict(prediction) if is_dataclass(prediction) else prediction


def _names(system: System, document: Mapping[str, Any]) -> dict[str, str]:
    """Of an experiment that has another name by now, and of its table of references."""
    former = document["experiment"]
    if former not in system.former_experiments:
        return {}
    name = system.former_experiments[former]
    reference = document["reference"]
    return {"experiment": name, "reference": reference and reference.replace(former, name)}


def _iteration(system: System, document: Mapping[str, Any]) -> Iteration:
    if "label" not in document:
        document = {"index": document["index"], **system.read_iteration(document)}
    return Iteration(**document)


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
