"""Two experiments, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from turntable.load import load_run
from turntable.systems.swan import compare, plot
from turntable.systems.swan.profile import Profile, profile_of

from .made_run import Scripted, make_run

JITTER = (0.99, 1.0, 1.01)


def profiles(parent: Path, factor: float, name: str, **changes: Any) -> list[Profile]:
    """factor: of busy's latency at half of the peak."""

    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        slower = factor if (data["aggressor"], data["load"]) == ("busy", 0.5) else 1.0
        return Scripted(1_000 * slower * JITTER[(round_ + data["repeat"]) % 3])

    run = load_run(make_run(parent, script, name=name, **changes))
    return [profile_of(cell) for cell in run.cells]


def test_only_what_differs_is_clear(tmp_path: Path) -> None:
    first, second = profiles(tmp_path, 1.0, "first"), profiles(tmp_path, 1.5, "second")
    found = compare.pairs(first, second)
    table = compare.comparison_table(found)
    assert len(found) == 9
    assert table.title.startswith("Field by field: in 8 of 9 (89%)")
    (clear,) = [row for row in table.rows if row["differs"] == "yes"]
    assert (clear["aggressor"], clear["load"]) == ("busy", 0.5)
    assert clear["ratio"] == pytest.approx(1.5, rel=1e-2)
    # Of logarithms -0.01, 0, 0.01 each: 2.776 (t of 4 degrees) * sqrt(2 * 1e-4 / 3) = 0.0227.
    # The baseline's rounds have the same three rows each, and do not scatter.
    assert {(row["aggressor"], row["seen"]) for row in table.rows} == {
        ("Baseline", "x1.00"),
        ("placebo", "x1.02"),
        ("busy", "x1.02"),
    }
    assert "a true factor of 1.02 (median of the fields; 1.00 to\n1.02)" in table.title
    drawn = plot.ratios(found, "stamp")
    assert drawn is not None and "second / first" in drawn.svg()


def test_fields_that_fail_are_no_agreement(tmp_path: Path) -> None:
    def overloaded(name: str, *loads: float) -> list[Profile]:
        def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
            if data["aggressor"] == "busy" and data["load"] in loads:
                # The longest there is, in every round: the ratio would be 1 without any scatter.
                return Scripted(1_000_000, achieved=0.5)
            return Scripted(1_000 * JITTER[(round_ + data["repeat"]) % 3])

        run = load_run(make_run(tmp_path, script, name=name))
        return [profile_of(cell) for cell in run.cells]

    found = compare.pairs(overloaded("first", 0.2, 0.5), overloaded("second", 0.5))
    table = compare.comparison_table(found)
    told = {row["load"]: row["differs"] for row in table.rows if row["aggressor"] == "busy"}
    assert told == {0.2: "yes, FAIL in one", 0.5: "FAIL in both", 1.0: "no"}
    assert table.title.startswith("Field by field: in 7 of 7 (100%)")
    assert "; FAIL in both 1, in one alone 1.\n" in table.title


def test_two_rounds_have_no_interval(tmp_path: Path) -> None:
    first, second = (profiles(tmp_path, 1.0, name, rounds=2) for name in ("first", "second"))
    found = compare.pairs(first, second)
    # Nor has the baseline, whose three rows in each round are none of three rounds.
    assert [pair.covers_no_difference for pair in found] == [None] * 9
    alone = [pair for pair in found if pair.aggressor == "busy"]
    assert "no interval" in compare.title(alone)


def test_cells_meet_by_what_tells_them_apart(tmp_path: Path) -> None:
    cells = [{"isolation": "none"}, {"isolation": "shares"}]
    both = profiles(tmp_path, 1.0, "both", cells=cells)
    turned = profiles(tmp_path, 1.0, "turned", cells=cells[::-1])
    found = compare.pairs(both, turned)
    assert len(found) == 18
    assert {pair.cell for pair in found} == {
        "same-core · isolation none",
        "same-core · isolation shares",
    }
    assert (
        compare.pairs(both, profiles(tmp_path, 1.0, "other", cells=[{"isolation": "idle"}])) == []
    )


def test_loads_meet_by_their_share_of_the_peak(tmp_path: Path) -> None:
    first = profiles(tmp_path, 1.0, "first", loads=(0.2, 0.5))
    second = profiles(tmp_path, 1.5, "second", loads=(0.5, 0.9))
    found = compare.pairs(first, second)
    assert {(pair.load, pair.second.load) for pair in found} == {(0.5, 0.5)}
