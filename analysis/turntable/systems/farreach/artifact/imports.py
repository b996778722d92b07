"""A directory of the artifact's statistics -> runs, one per experiment that has such cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from turntable.imported import Imported, ImportedTurn
from turntable.results import EXPERIMENTS
from turntable.systems.farreach.artifact.description import read_description
from turntable.systems.farreach.artifact.sources import paths_of, rounds_of
from turntable.systems.farreach.artifact.turns import turn_of
from turntable_core.errors import TurntableError
from turntable_core.plan import Plan, cells_of
from turntable_core.spec import Scale, choose_profile, load_experiment
from turntable_systems.farreach import popularity
from turntable_systems.farreach.offered import is_open

PROFILE = "imported"
_PAPER = "paper"  # the profile whose cells are the artifact's
# By these a cell of the artifact is one of an experiment.
_SAME = (
    *("method", "workload", "servers", "records", "theta", "value_bytes", "cache_size", "pattern"),
    *("snapshot_period_s", "target_ops_per_s"),
)


@dataclass(frozen=True)
class _Experiment:
    scale: Scale
    cells: Sequence[Mapping[str, Any]]

    def place(self, parameters: Mapping[str, Any]) -> int | None:
        """Of such a cell among its own."""
        return next(
            (
                index
                for index, cell in enumerate(self.cells)
                if all(cell.get(name) == parameters.get(name) for name in _SAME)
            ),
            None,
        )

    def of_it(self, turns: Sequence[ImportedTurn]) -> list[ImportedTurn]:
        """In the order of its cells."""
        placed = [(self.place(_parameters(turn)), turn) for turn in turns]
        own = [(place, turn) for place, turn in placed if place is not None]
        return [turn for _, turn in sorted(own, key=lambda each: each[0])]


def read_directory(directory: Path) -> list[Imported]:
    """Empty where there is none of the artifact's files. Raises TurntableError for malformed ones,
    with all that is wrong.
    """
    description = read_description(directory)
    paths = paths_of(directory, description)
    if not paths:
        return []
    description.check_patterns(paths)
    turns, faults = [], []
    for round_ in rounds_of(directory, paths, description):
        try:
            turns.append(turn_of(round_))
        except TurntableError as error:
            faults.append(str(error))
    if faults:
        raise TurntableError("\n".join(faults))
    turns = _with_missing_rounds(turns, description.rounds)
    return [
        Imported(
            plan=_plan(experiment, chosen),
            turns=tuple(chosen),
            fidelity_class=description.fidelity_class,
            note=description.note,
        )
        for experiment, chosen in _by_experiment(turns)
    ]


def _with_missing_rounds(turns: Sequence[ImportedTurn], least: int) -> list[ImportedTurn]:
    """By cell and round: those that should be there are planned, with nothing measured."""
    by_cell: dict[str, dict[int, ImportedTurn]] = {}
    for turn in turns:
        by_cell.setdefault(turn.turn.cell.id, {})[turn.turn.round] = turn
    return [
        rounds.get(index) or _not_measured(next(iter(rounds.values())), index)
        for rounds in by_cell.values()
        for index in range(max(least, 1 + max(rounds)))
    ]


def _not_measured(other: ImportedTurn, index: int) -> ImportedTurn:
    return ImportedTurn(replace(other.turn, round=index), ())


def _by_experiment(
    turns: Sequence[ImportedTurn],
) -> list[tuple[_Experiment, list[ImportedTurn]]]:
    """The fewest experiments that have all turns, those with the most first. What was not in the
    paper is in the experiment of its kind.
    """
    experiments, left = _experiments(), list(turns)
    chosen: dict[str, list[ImportedTurn]] = {}
    while left:
        fitting = {name: one.of_it(turns) for name, one in experiments.items()}
        fresh = {name: sum(turn in left for turn in fit) for name, fit in fitting.items()}
        best = max(fresh, key=lambda name: fresh[name])
        if not fresh[best]:
            break
        chosen[best] = fitting[best]
        left = [turn for turn in left if turn not in fitting[best]]
    for turn in left:
        chosen.setdefault(_kind(_parameters(turn)), []).append(turn)
    return [(experiments[name], of_it) for name, of_it in sorted(chosen.items())]


def _kind(parameters: Mapping[str, Any]) -> str:
    if popularity.is_played(parameters):
        return "exp07_dynamic"
    return "exp02_latency" if is_open(parameters) else "exp01_throughput"


def _parameters(turn: ImportedTurn) -> Mapping[str, Any]:
    return turn.turn.cell.parameters


def _experiments() -> dict[str, _Experiment]:
    """Those of which numbers were published."""
    found = {}
    for file in sorted((EXPERIMENTS / "farreach").glob("exp*.yml")):
        experiment = load_experiment(file)
        if experiment.document.get("reference") and _PAPER in experiment.profiles:
            scale = choose_profile(experiment, _PAPER)
            cells = [cell.parameters for cell in cells_of(scale)]
            found[file.stem] = _Experiment(scale, [cell for cell in cells if "crash" not in cell])
    return found


def _plan(experiment: _Experiment, turns: Sequence[ImportedTurn]) -> Plan:
    scale = experiment.scale
    document = scale.experiment.document
    return Plan(
        experiment=scale.experiment.id,
        profile=PROFILE,
        system_name=scale.experiment.system.name,
        title=document["title"],
        rounds=max(turn.turn.round for turn in turns) + 1,
        deadlines={},
        validity={},  # none of its rules can be checked
        reference=document.get("reference"),
        turns=tuple(turn.turn for turn in turns),
        figures=tuple(document.get("figures", ())),
    )
