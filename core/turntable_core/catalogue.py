"""What there is: experiments with their profiles, testbeds, and runs with how far they are.

python -m turntable_core.catalogue REPOSITORY
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from turntable_core import estimate, plan, systems
from turntable_core.ownership import run_claim
from turntable_core.spec import (
    Experiment,
    Scale,
    choose_profile,
    experiment_files,
    load_experiment,
)
from turntable_core.text_table import columns, duration

SHOWN_RUNS = 20
DEFAULT_INVENTORY = "inventories/embedded"  # of ansible.cfg


def render(repository: Path) -> str:
    results = repository / "results"
    return "\n".join(
        [
            *_experiments(repository, estimate.overhead_of_earlier_runs(results).seconds),
            "",
            *_testbeds(repository),
            "",
            *_runs(repository, results),
        ]
    )


def _experiments(repository: Path, overhead_s: float) -> list[str]:
    lines = ["experiments    ansible-playbook playbooks/SYSTEM/EXPERIMENT.yml -e profile=PROFILE"]
    places = [directory / "experiments" for directory in (repository, *systems.FURTHER)]
    for file in (file for place in places for file in experiment_files(place)):
        name = f"{file.parent.name}/{file.stem}"
        try:
            experiment = load_experiment(file)
        except Exception as error:  # of a system's code too
            lines.append(f"  {name}  cannot be used: {systems.said_of(error)}")
            continue
        lines.append(f"  {name}  {experiment.document['title']}")
        rows = [
            (profile, _extent(experiment, profile, overhead_s)) for profile in experiment.profiles
        ]
        lines += [f"    {line}" for line in columns(rows)]
    faults = systems.broken().items()
    return lines + [f"  {name}: cannot be used: {fault}" for name, fault in faults]


def _extent(experiment: Experiment, profile: str, overhead_s: float) -> str:
    try:
        return _extent_of(choose_profile(experiment, profile), overhead_s)
    except Exception as error:  # of a system's code too
        return f"cannot be used: {systems.said_of(error)}"


def _extent_of(scale: Scale, overhead_s: float) -> str:
    """Cells, rounds, iterations and time, without what the system prepares first."""
    cells, system = plan.cells_of(scale), scale.experiment.system
    counts = [system.iteration_count(cell.parameters) for cell in cells]
    iterations = scale.rounds * sum(counts)
    window_s = scale.rounds * sum(
        count * system.windows(cell.parameters).loaded_s
        for count, cell in zip(counts, cells, strict=True)
    )
    setup_s = estimate.START_S + len(cells) * scale.rounds * estimate.TURN_S
    about = duration(setup_s + window_s + iterations * overhead_s)
    cells_and_rounds = f"{_count(len(cells), 'cell')} x {_count(scale.rounds, 'round')}"
    return f"{cells_and_rounds}, {iterations} iterations, about {about}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _testbeds(repository: Path) -> list[str]:
    rows = [
        (file.parents[2].name, _about(file))
        for file in sorted((repository / "inventories").glob("*/group_vars/all/testbed.yml"))
    ]
    title = "testbeds    -i inventories/NAME; playbooks/doctor.yml says how one is"
    return [title, *(f"  {line}" for line in columns(rows))]


def _about(file: Path) -> str:
    """The first line of prose in a file's leading comment."""
    match = re.search(r"^# *(\S.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else ""


Key = tuple[str, int, int]  # cell, round, iteration


@dataclass(frozen=True)
class RunState:
    directory: Path
    created_at: str
    profile: str
    done: int
    total: int
    refused: int  # iterations that the testbed cannot do; in neither of the two
    why_refused: str | None  # the first of them
    verdict: str
    command: str | None  # that continues it; None: it was imported, or runs

    @property
    def row(self) -> tuple[object, ...]:
        when = self.created_at[:16].replace("T", " ")
        experiment, name = self.directory.parts[-2:]
        return experiment, name, when, self.profile, f"{self.done}/{self.total}", self.verdict


def _runs(repository: Path, results: Path) -> list[str]:
    runs = sorted(
        (state_of(path.parent, repository) for path in results.glob("*/*/plan.json")),
        key=lambda run: (run.created_at, run.directory.name),
    )
    if not runs:
        return ["runs    none yet"]
    shown = runs[-SHOWN_RUNS:]
    title = "runs    newest last" + (
        f", {len(runs) - len(shown)} older ones left out" if len(runs) > len(shown) else ""
    )
    head = ("experiment", "run", "planned (UTC)", "profile", "done", "verdict")
    lines = columns([head, *(run.row for run in shown)], right=(4,))
    listed = [f"  {line}" for line in lines]
    refused = [
        f"  {'/'.join(run.directory.parts[-2:])}: {run.refused} iterations: {run.why_refused}"
        for run in shown
        if run.refused
    ]
    unfinished = [f"  {run.command}" for run in shown if run.done < run.total and run.command]
    listed += ["not available:", *refused] if refused else []
    return [title, *listed, *(["unfinished; to continue:", *unfinished] if unfinished else [])]


def state_of(directory: Path, repository: Path) -> RunState:
    """From plan, manifest, journal and summary.csv; what cannot be read is said, not raised."""
    manifest = _json(directory / "manifest.json")
    document = _json(directory / "plan.json")
    done, refused = _done(directory / "journal.ndjson")
    begun = {key[:2] for key in done}
    skipped = list(_json(directory / "skipped.json"))
    return RunState(
        directory=directory,
        created_at=str(manifest.get("created_at", "")),
        profile=str(document.get("profile", "?")),
        done=sum(done.values()),
        total=sum(
            len(turn["iterations"])
            for turn in document.get("turns", [])
            if [turn["cell"], turn["round"]] not in skipped
            or (turn["cell"], turn["round"]) in begun
        )
        - len(refused),
        refused=len(refused),
        why_refused=next(iter(refused.values()), None),
        verdict=_verdict(directory / "summary.csv"),
        command=_command(directory, manifest),
    )


def _command(directory: Path, manifest: Mapping[str, Any]) -> str | None:
    if "imported" in manifest or run_claim.worker_of(directory) is not None:
        return None
    return resume_command(manifest, directory.name)


def _json(path: Path) -> Mapping[str, Any]:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}


def _done(journal: Path) -> tuple[dict[Key, bool], dict[Key, str]]:
    """Of every iteration that has been tried: whether it has been measured, and needs no further
    attempt. And why, of those that were refused.
    """
    done: dict[Key, bool] = {}
    refused: dict[Key, str] = {}
    try:
        lines = journal.read_bytes().split(b"\n")[:-1]
    except OSError:
        return {}, {}
    for line in lines:
        try:
            attempt = json.loads(line)
            key = attempt["cell"], attempt["round"], attempt["iteration"]
            done.setdefault(key, False)
            refused.pop(key, None)
            if attempt["status"] == "ok":
                done[key] = not attempt.get("repeat", False)
            elif attempt["status"] == "refused" and not done[key]:
                refused[key] = attempt["message"]
        except (ValueError, KeyError, TypeError):
            continue
    return done, refused


def _verdict(summary: Path) -> str:
    """`valid`, or how many rows are not."""
    try:
        with summary.open(newline="", encoding="utf-8") as lines:
            counts = Counter(row["verdict"].partition(":")[0] for row in csv.DictReader(lines))
    except (OSError, KeyError):
        return "-"
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))


def resume_command(manifest: Mapping[str, Any], name: str, playbook: str | None = None) -> str:
    """Parameters are kept by the run; inventory and variables of the testbed are not. playbook: of
    a series; None: the experiment's own.
    """
    words = ["ansible-playbook"]
    if (inventories := manifest.get("inventories", [])) != [DEFAULT_INVENTORY]:
        words += [f"-i {shlex.quote(source)}" for source in inventories]
    words.append(playbook or _playbook_of(manifest.get("experiment_file")))
    return " ".join([*words, *of_testbed(manifest.get("extra_vars", {})), f"-e run={name}"])


def of_testbed(extra_vars: Mapping[str, Any]) -> list[str]:
    """Arguments of a command that gives the same variables of the testbed."""
    words = []
    for key, value in extra_vars.items():
        if key.startswith("turntable_"):
            text = f"{key}={value}" if isinstance(value, str) else json.dumps({key: value})
            words.append(f"-e {shlex.quote(text)}")
    return words


def _playbook_of(experiment: str | None) -> str:
    """DIRECTORY/experiments/SYSTEM/NAME.yml -> DIRECTORY/playbooks/SYSTEM/NAME.yml"""
    *directory, _, system, name = PurePath(experiment or "experiments/SYSTEM/EXPERIMENT.yml").parts
    return str(PurePath(*directory, "playbooks", system, name))


def main() -> int:
    print(render(Path(sys.argv[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
