"""swan rerun UUID: the same experiment once more, with the same parameters, order, seed and peak;
and whether it really was the same.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from turntable.systems.swan.command import begin, places
from turntable.systems.swan.store import Kept, Store, metadata
from turntable_core.errors import TurntableError
from turntable_core.overrides import DEFAULT_PROFILE
from turntable_core.run_directory import new_run_name
from turntable_systems.swan import aggressors
from turntable_systems.swan.identity import experiment_uuid

_PEAK = "peak_load"  # whole requests per second
_OF_SEARCH = ("tune_s", "tune_repeats")  # without a meaning where the peak is given
_INVENTORY_1 = "inventory"  # in format 1 of the store: one text, with commas
_COMPARED = {
    metadata.ROUNDS: "repetitions",
    metadata.ITERATIONS: "what is measured in which order, with which jobs (digest)",
    metadata.INVENTORY_DIGEST: "inventory, its machines, addresses and ports (digest)",
    "fidelity_class": "fidelity class",
}
_DIFFERS = 1  # exit status
Cells = Sequence[Mapping[str, Any]]
Jobs = Mapping[str, Mapping[str, Any]]  # of a cell, by name


def run(options: argparse.Namespace) -> int:
    """Exit status: that of the playbook if it failed, else whether the configuration was another.

    Raises TurntableError, before anything runs, where it cannot be the same.
    """
    results = places.results_to_read(vars(options))
    store = Store(results)
    try:
        begin.warn(store.put_all())
        kept = store.find(options.uuid)
        general = store.metadata(kept.id)
    finally:
        store.close()
    experiment = places.of_id(kept.experiment)
    experiment.check()
    variables = variables_of(kept, general, experiment.factors(kept.profile or DEFAULT_PROFILE))
    _check_jobs(kept, general)
    name = options.run or new_run_name(variables["profile"])
    _check_new(results / kept.experiment / name)
    own = {"run": name, "inventory": options.inventory or _inventories(general)}
    if options.results:
        own["results"] = options.results
    status = begin.begin(experiment, own, variables)
    found, said = _verdict(results, kept, experiment_uuid(kept.experiment, name))
    print(said)
    return status or found


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
    yield from _job_differences(_jobs(first), _jobs(second))
    for key, what in _COMPARED.items():
        if _is_told(key, first, second) and first[key] != second[key]:
            yield f"{what}: {first[key]} before, {second[key]} now"


def _is_told(key: str, *every: Mapping[str, str]) -> bool:
    return all(general.get(key) for general in every)


def _jobs(general: Mapping[str, str]) -> list[Jobs]:
    """Of each cell; none where an older version stored it."""
    return list(json.loads(general.get(metadata.JOBS, "{}")).values())


def _job_differences(first: Sequence[Jobs], second: Sequence[Jobs]) -> Iterator[str]:
    yield from dict.fromkeys(
        f"job {name}, {key}: {_text(before.get(key))} before, {_text(now.get(key))} now"
        for one, other in zip(first, second, strict=False)
        for name in dict.fromkeys([*one, *other])
        for before, now in [(one.get(name, {}), other.get(name, {}))]
        for key in dict.fromkeys([*before, *now])
        if before.get(key) != now.get(key)
    )


def _text(value: object) -> str:
    return "none" if value is None else json.dumps(value)


def _check_jobs(kept: Kept, general: Mapping[str, str]) -> None:
    """The jobs that would run today are those that ran then."""
    then = _jobs(general)
    if not then:
        print(
            f"swan: {kept.id}: its jobs are not stored, by an older version; they are compared "
            "after the run",
            file=sys.stderr,
        )
        return
    cells = _cells(general)
    try:
        today = [_today(cell, jobs) for cell, jobs in zip(cells, then, strict=True)]
    except TurntableError as error:
        raise TurntableError(f"{error}\nNothing was run") from None
    found = list(_job_differences(then, today))
    if found:
        files = dict.fromkeys(cell["aggressors_file"] or str(aggressors.SHIPPED) for cell in cells)
        raise TurntableError(
            "\n  ".join([f"experiment {kept.id}: its jobs are others today:", *found])
            + f"\nexpected them in {', '.join(files)} as they were then. Nothing was run"
        )


def _today(parameters: Mapping[str, Any], then: Jobs) -> Jobs:
    known = aggressors.known(parameters)
    return {
        name: json.loads(json.dumps(aggressors.of(parameters, name)))
        for name in then
        if name in known
    }


def _check_new(directory: Path) -> None:
    if directory.exists():
        raise TurntableError(
            f"{directory}: this run exists; expected a new name, or none. Nothing was run"
        )


def _values(first: Cells, second: Cells) -> Iterator[tuple[str, object, object]]:
    ones, others = metadata.levels(first), metadata.levels(second)
    for name in dict.fromkeys([*ones, *others]):
        if ones.get(name) != others.get(name):
            yield name, ones.get(name), others.get(name)
    if len(first) != len(second):
        yield "cells", len(first), len(second)


def _inventories(general: Mapping[str, str]) -> list[str]:
    """Those that it was measured with. Another testbed is never taken in their place unasked."""
    texts = json.loads(general.get(metadata.INVENTORIES, "[]"))
    texts = texts or [text for text in general.get(_INVENTORY_1, "").split(",") if text]
    if not texts:
        raise TurntableError(
            "its inventory is not stored; expected the one that it was measured with: name it with "
            "--inventory. Nothing was run"
        )
    paths = [places.inventory(text, places.REPOSITORY) for text in texts]
    for text, path in zip(texts, paths, strict=True):
        if not places.is_inventory(path):
            raise TurntableError(
                f"its inventory, {text}, is not there; expected what it was measured with: name "
                "it, and each of several, with --inventory. Nothing was run"
            )
    return paths


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


def _verdict(results: Path, kept: Kept, uuid: str) -> tuple[int, str]:
    store = Store(results)
    try:
        first, second = store.metadata(kept.id), store.metadata(uuid)
    finally:
        store.close()
    if metadata.CELLS not in second:
        return _DIFFERS, f"Nothing of {uuid} was measured: there is no configuration to compare"
    found = list(differences(first, second))
    if found:
        return _DIFFERS, "\n".join([f"Configuration differs from that of {kept.id}:", *found])
    untold = [what for key, what in _COMPARED.items() if not _is_told(key, first, second)]
    but = f"; not stored then, and not compared: {'; '.join(untold)}" if untold else ""
    return 0, f"Configuration identical with that of {kept.id}{but}"
