"""The shipped experiments of every system are accepted, and every system has its parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable_core import systems
from turntable_core.plan import cells_of
from turntable_core.spec import choose_profile, experiment_files, load_experiment

REPOSITORY = Path(__file__).resolve().parents[2]
SHIPPED = experiment_files(REPOSITORY / "experiments")


@pytest.mark.parametrize("file", SHIPPED, ids=lambda path: path.stem)
def test_shipped_experiments_are_accepted(file: Path) -> None:
    experiment = load_experiment(file)
    assert experiment.system.name == file.parent.name
    for profile in experiment.profiles:
        cells = cells_of(choose_profile(experiment, profile))
        assert all(experiment.system.iteration_count(cell.parameters) > 0 for cell in cells)


@pytest.mark.parametrize("name", systems.names())
def test_a_system_has_its_parts(name: str) -> None:
    system = systems.find(name)
    assert system.name == name
    assert system.schema.is_file()
    tasks = {path.stem for path in system.tasks.glob("*.yml")}
    assert {"start", "configure", "measure"} <= tasks
    systems.import_components()
