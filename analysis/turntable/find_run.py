"""Which run is meant: by name, or the newest."""

from __future__ import annotations

import json
from pathlib import Path

from turntable_core.errors import TurntableError, did_you_mean
from turntable_core.run_directory import RunDirectory


def find_run(results: Path, experiment: str | None = None, run: str | None = None) -> Path:
    """The directory of a run, the one planned last where several fit.

    experiment: of any if None; both `directory/name` and the name of its results' directory. run:
    its name, or `experiment/name`.
    """
    directory, _, name = (run or "").rpartition("/")
    experiment = directory or experiment
    pattern = experiment.replace("/", "_") if experiment else "*"
    every = [path.parent for path in results.glob(f"{pattern}/*/plan.json")]
    found = [path for path in every if name in ("", path.name)]
    if not found:
        what = f"no run {name!r}" if name else "no run"
        hint = did_you_mean(name, [path.name for path in every]) if name else ""
        raise TurntableError(
            f"{results}: {what} of {experiment or 'any experiment'}{hint}; "
            "expected results/<experiment>/<run> with a plan.json"
        )
    experiments = sorted({path.parent.name for path in found})
    if name and len(experiments) > 1:
        expected = " or ".join(f"{experiment}/{name}" for experiment in experiments)
        raise TurntableError(
            f"{results}: {len(experiments)} experiments have a run {name!r}; expected {expected}"
        )
    return max(found, key=_planned_at)


def named_run(results: Path, run: Path | str) -> Path:
    """The directory of a run that a person named as find_run takes it, or as a directory."""
    given = Path(run)
    return given if (given / "plan.json").exists() else find_run(results, run=str(run))


def _planned_at(directory: Path) -> tuple[str, str]:
    """Time of planning, then name: file times do not survive copying."""
    try:
        manifest = json.loads(RunDirectory(directory).manifest_file.read_bytes())
    except (OSError, ValueError):
        manifest = {}
    return manifest.get("created_at", ""), directory.name
