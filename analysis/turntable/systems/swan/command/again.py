"""swan rerun UUID: the same experiment once more, with the same parameters, order, seed and peak;
and whether it really was the same.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from turntable.systems.swan.command import begin, places
from turntable.systems.swan.store import Kept, Store, metadata
from turntable_core.errors import TurntableError
from turntable_core.overrides import DEFAULT_PROFILE
from turntable_core.run_directory import new_run_name
from turntable_systems.swan.identity import experiment_uuid

_PEAK = "peak_load"  # whole requests per second
_OF_SEARCH = ("tune_s", "tune_repeats")  # without a meaning where the peak is given
_COMPARED = {
    metadata.ROUNDS: "repetitions",
    metadata.ITERATIONS: "what is measured in which order, with which jobs (digest)",
    "fidelity_class": "fidelity class",
}
Cells = Sequence[Mapping[str, Any]]


def run(options: argparse.Namespace) -> int:
    results = places.results_to_read(vars(options))
    store = Store(results)
    try:
        begin.warn(store.put_all())
        kept = store.find(options.uuid)
        general = store.metadata(kept.id)
    finally:
        store.close()
    experiment = places.of_id(kept.experiment)
    variables = variables_of(kept, general, experiment.factors(kept.profile or DEFAULT_PROFILE))
    name = options.run or new_run_name(variables["profile"])
    inventory = options.inventory or _inventory(general)
    given = {"run": name, "inventory": inventory, "results": options.results}
    own = {key: value for key, value in given.items() if value}
    status = begin.begin(experiment, own, variables)
    print(_verdict(results, kept, experiment_uuid(kept.experiment, name)))
    return status


def variables_of(
    kept: Kept, general: Mapping[str, str], factors: Collection[str]
) -> dict[str, Any]:
    """Extra variables that make the same cells. general: its metadata. factors: of the experiment;
    what else differs between cells follows from these, and the experiment says how.
    """
    if metadata.CELLS not in general:
        raise TurntableError(
            f"experiment {kept.id}: its configuration is not stored, since nothing was planned; "
            "expected one that has begun to measure"
        )
    cells = _cells(general)
    levels = metadata.levels(cells)
    found = {name: values[0] for name, values in levels.items() if len(values) == 1}
    found |= {name: values for name, values in levels.items() if name in factors}
    peaks = {round(peak) for peak in json.loads(general[metadata.PEAKS]).values() if peak}
    if len(peaks) == 1:
        found = _without(found, _OF_SEARCH) | {_PEAK: peaks.pop()}
    run_options = {"profile": kept.profile, "rounds": int(general[metadata.ROUNDS]), "long": True}
    return found | run_options


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[str]:
    """Of two configurations, by their metadata; the peak is the one that was in effect."""
    for name, before, after in _values(_effective(first), _effective(second)):
        yield f"{name}: {before} before, {after} now"
    for key, what in _COMPARED.items():
        if first.get(key) != second.get(key):
            yield f"{what}: {first.get(key)} before, {second.get(key)} now"


def _values(first: Cells, second: Cells) -> Iterator[tuple[str, object, object]]:
    ones, others = metadata.levels(first), metadata.levels(second)
    for name in dict.fromkeys([*ones, *others]):
        if ones.get(name) != others.get(name):
            yield name, ones.get(name), others.get(name)
    if len(first) != len(second):
        yield "cells", len(first), len(second)


def _inventory(general: Mapping[str, str]) -> str | None:
    """The one that it was measured with. Another testbed is never taken in its place unasked."""
    text = general.get(metadata.INVENTORY)
    if not text:
        return None
    path = places.REPOSITORY / text  # an absolute path stays one
    if not path.exists():
        raise TurntableError(
            f"its inventory, {text}, is not there; expected the one directory or file that it was "
            "measured with: name it with --inventory"
        )
    return str(path)


def _cells(general: Mapping[str, str]) -> list[dict[str, Any]]:
    return list(json.loads(general[metadata.CELLS]).values())


def _effective(general: Mapping[str, str]) -> list[dict[str, Any]]:
    peaks = json.loads(general[metadata.PEAKS])
    cells = json.loads(general[metadata.CELLS])
    return [
        _without(parameters, _OF_SEARCH)
        | {_PEAK: round(peaks.get(cell) or parameters.get(_PEAK) or 0)}
        for cell, parameters in cells.items()
    ]


def _without(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _verdict(results: Any, kept: Kept, uuid: str) -> str:
    store = Store(results)
    try:
        first, second = store.metadata(kept.id), store.metadata(uuid)
    finally:
        store.close()
    if metadata.CELLS not in second:
        return f"Nothing of {uuid} was measured: there is no configuration to compare"
    found = list(differences(first, second))
    if not found:
        return f"Configuration identical with that of {kept.id}"
    return "\n".join([f"Configuration differs from that of {kept.id}:", *found])
