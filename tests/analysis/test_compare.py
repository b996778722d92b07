"""Two runs beside each other."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scipy import stats as scipy_stats

from turntable.compare import changes, compare, differences
from turntable.load import load_run
from turntable.stats import difference
from turntable_core.errors import TurntableError

from . import recordings


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return recordings.copy_run(tmp_path / "first", recordings.ROUNDS)


@pytest.fixture
def second(tmp_path: Path) -> Path:
    return recordings.copy_run(tmp_path / "second", recordings.ROUNDS)


def test_a_run_is_like_itself(first: Path, second: Path) -> None:
    assert list(differences(load_run(first), load_run(second))) == []
    text = compare(first, second)
    assert "Nothing differs" in text
    assert "+0.0 ±" in text


def test_what_differs_is_named_and_cells_are_found_again(first: Path, second: Path) -> None:
    def change(plan: dict) -> None:
        for parameters in plan["cells"].values():
            parameters["drain_s"] = 3

    recordings.edit_json(second / "plan.json", change)
    recordings.edit_json(
        second / "manifest.json", lambda manifest: manifest["machine"].update(cpus=64)
    )
    runs = load_run(first), load_run(second)
    rows = {row["what"]: (row["first"], row["second"]) for row in differences(*runs)}
    assert rows == {"drain_s": ("1", "3"), "machine cpus": ("2", "64")}
    cells = {row["cell"] for row in changes(*runs)}
    assert len(cells) == 2  # workloads A and C


def test_a_cell_that_only_one_run_has_is_named(first: Path, tmp_path: Path) -> None:
    other = recordings.copy_run(tmp_path / "other")  # workload A only, another capacity
    text = compare(first, other)
    assert "Only in the first: workloadc · nocache · 4 servers" in text
    assert "capacity_ops_per_s" in text


def test_runs_of_two_systems_are_not_compared(first: Path, second: Path) -> None:
    recordings.edit_json(second / "plan.json", lambda plan: plan.update(system="nosuch"))
    with pytest.raises(TurntableError, match="nosuch"):
        compare(first, second)


def test_the_interval_is_welchs() -> None:
    first, second = [10.0, 11.0, 12.5, 10.7], [13.0, 15.0, 14.2]
    expected = scipy_stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    found = difference(first, second)
    assert math.isclose(found.mean - found.half_width, expected.low)
    assert math.isclose(found.mean + found.half_width, expected.high)


def test_one_round_has_no_interval() -> None:
    assert difference([2.0], [3.0]).half_width is None
    assert difference([], [3.0]) is None
    assert difference([None], [3.0]) is None
