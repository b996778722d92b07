"""swan sensitivity-profile: the UUID on standard output, then the playbook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from turntable.systems.swan import flags
from turntable.systems.swan.command import places, settings, words
from turntable.systems.swan.command.places import Experiment
from turntable.systems.swan.store import Store
from turntable.systems.swan.store.metadata import FLAGS as KIND_FLAGS
from turntable_core.errors import TurntableError
from turntable_core.overrides import DEFAULT_PROFILE
from turntable_core.run_directory import new_run_name

# Of the command itself; the others are Swan's, or parameters.
_SWITCHES = {
    "config_dump": "print the configuration, KEY=VALUE, and end",
    "help": "print this, and end",
    **dict.fromkeys(("v", "vv", "vvv"), "passed on to ansible-playbook"),
}
_OWN = {
    "config": "FILE of KEY=VALUE lines",
    "config_dump_experiment_id": "UUID: print the configuration of that experiment, and end",
    "experiment": f"of experiments/swan (default: {places.SENSITIVITY})",
    "inventory": "DIRECTORY: the testbed (default: inventories/embedded-hosts); may be repeated",
    "profile": f"scale of the experiment (default: {DEFAULT_PROFILE})",
    "run": "name of the run; one that exists is continued",
    "results": "DIRECTORY (default: results of the checkout)",
}
_REPEATED = ("inventory",)
_INTERRUPTED = 130


def run(arguments: Sequence[str]) -> int:
    read = words.read(arguments, _SWITCHES, _REPEATED)
    own = {name: read.flags.pop(name) for name in list(read.flags) if name in _OWN} | read.lists
    if "help" in read.switches:
        print(usage())
        return 0
    if "config_dump_experiment_id" in own:
        print(_dump_of(own["config_dump_experiment_id"], places.results_to_read(own)))
        return 0
    file = Path(own["config"]) if "config" in own else None
    combined = settings.combined(read.flags, os.environ, file)
    chosen = settings.parameters(combined)
    experiment = Experiment(own.get("experiment", places.SENSITIVITY))
    experiment.check()
    profile = own.get("profile", DEFAULT_PROFILE)
    if "config_dump" in read.switches:
        texts = experiment.defaults(profile) | {name: one.text for name, one in combined.items()}
        print(settings.dump(texts, f"{experiment.name}, profile {profile}"))
        return 0
    verbosity = [f"-{name}" for name in ("v", "vv", "vvv") if name in read.switches]
    # A run that is continued has a profile of its own.
    scale = {"profile": own["profile"]} if "profile" in own else {}
    return begin(experiment, own, {**scale, **chosen}, [*read.extra, *verbosity])


def begin(
    experiment: Experiment,
    own: Mapping[str, Any],
    variables: Mapping[str, Any],
    extra: Sequence[str] = (),
) -> int:
    """variables: extra ones of the playbook. own: inventories, results and name of the run, if
    given.

    Prints the UUID first. Stores what was measured, however the playbook ended; its exit status.
    The store is closed meanwhile: others may use it.
    """
    results = places.results(own)
    inventories = places.inventories(own.get("inventory", ()))
    name = own.get("run") or new_run_name(variables.get("profile", DEFAULT_PROFILE))
    given = {**variables, "run": name}
    if "results" in own:
        given["turntable_results_dir"] = str(results)
    with closing(Store(results)) as store:
        uuid = store.note_begin(experiment.id, name, _environ())
    print(uuid, flush=True)
    status = _play(places.ansible(inventories, experiment.playbook, [json.dumps(given), *extra]))
    directory = results / experiment.id / name
    if (directory / "plan.json").exists():
        with closing(Store(results)) as store:
            fault = store.try_put(directory)
        warn([fault] if fault else [])
    return status


def _play(command: Sequence[str]) -> int:
    """Ctrl-C reaches the playbook too, which then ends what it has begun."""
    with subprocess.Popen(command, cwd=places.REPOSITORY) as playbook:
        try:
            return playbook.wait()
        except KeyboardInterrupt:
            playbook.wait()
            return _INTERRUPTED


def _environ() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name.startswith(settings.PREFIX)}


def _dump_of(text: str, results: Path) -> str:
    """Of a past experiment, as it was: the peak that was found is its peak."""
    store = Store(results)
    try:
        faults = store.put_all()
        kept = store.find(text)
        told, general = store.metadata(kept.id, KIND_FLAGS), store.metadata(kept.id)
    finally:
        store.close()
    if not told:
        raise TurntableError("\n".join([f"experiment {kept.id}: nothing of it is stored", *faults]))
    if general["peak_load"] and "," not in general["peak_load"]:
        told = told | {"experiment_peak_load": general["peak_load"]}
    return settings.dump(told, f"experiment {kept.id}, run {kept.experiment}/{kept.run}")


def usage() -> str:
    lines = [
        "swan sensitivity-profile [-FLAG=VALUE …] [-e NAME=VALUE …]",
        "",
        "Flags go before SWAN_… of the environment, these before -config FILE, that before the",
        "experiment. The first line of the output is the UUID.",
        "",
    ]
    every = _OWN | _SWITCHES | {name: flag.does for name, flag in flags.FLAGS.items()}
    return "\n".join([*lines, *(f"  -{name:36} {does}" for name, does in every.items())])


def warn(faults: Sequence[str]) -> None:
    for fault in faults:
        print(f"swan: not stored: {fault}", file=sys.stderr)
