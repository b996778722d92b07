"""The UUID of an experiment: what Swan prints first, and by which its store knows it.

It follows from the names of experiment and run, so that it can be told before a run begins, and
again from its directory.
"""

from __future__ import annotations

from pathlib import Path
from uuid import UUID, uuid5

# Made once, at random; another one would give other UUIDs to all experiments.
_NAMESPACE = UUID("7d1c1d55-6b02-4f0e-9a3e-5d6c1f7c9a16")


def experiment_uuid(experiment: str, run: str) -> str:
    """experiment: as its file names it, swan_sensitivity_profile; run: the run's name."""
    return str(uuid5(_NAMESPACE, f"{experiment}/{run}"))


def uuid_of(directory: Path | str) -> str:
    """Of results/<experiment>/<run>, whether it exists yet or not."""
    path = Path(directory).absolute()
    return experiment_uuid(path.parent.name, path.name)
