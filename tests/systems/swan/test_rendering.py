"""Swan's tables: texts and colours as its rules have them, and scripted runs through to tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from turntable import grid, table
from turntable.load import load_run
from turntable.results import Run
from turntable.systems.swan import tables
from turntable.systems.swan.profile import Profile, profile_of
from turntable.systems.swan.rendering import achieved_rule, final_rule, older_rule

from .made_run import Scripted, make_run
from .measured import histogram

SLO = 500

# Latency (µs), achieved share -> text, background, colour. By hand, of the SLO of 500 µs.
FINAL = {
    (None, 1.0): ("N/A", "#c0c0c0", "#000000"),
    (None, 0.0): ("FAIL", "#b0c0b0", "#000000"),  # nothing was answered
    (170, None): ("N/A", "#c0c0c0", "#000000"),
    (170, 0.8999): ("FAIL", "#b0c0b0", "#000000"),
    (9000, 0.5): ("FAIL", "#b0c0b0", "#000000"),
    (170, 0.90): ("34%", "#98cc70", "#000000"),
    (500, 1.0): ("100%", "#98cc70", "#000000"),
    (501, 1.0): ("100%", "#ffeda0", "#000000"),
    (785, 1.0): ("157%", "#ffeda0", "#000000"),
    (1500, 1.0): ("300%", "#ffeda0", "#000000"),
    (1501, 1.0): (">300%", "#a9341f", "#ffffff"),
}
OLDER = {
    (None, 1.0): ("N/A", "#c0c0c0", "#000000"),
    (170, 0.5): ("34%", "#98cc70", "#000000"),
    (501, None): ("100%", "#ffeda0", "#000000"),
    (750, 1.0): ("150%", "#ffeda0", "#000000"),
    (751, 1.0): ("150%", "#a9341f", "#ffffff"),
    (9000, 1.0): ("1800%", "#a9341f", "#ffffff"),
}
ACHIEVED = {
    None: ("N/A", "#c0c0c0", "#000000"),
    0.951: ("95%", "#98cc70", "#000000"),
    0.95: ("95%", "#ffeda0", "#000000"),
    0.801: ("80%", "#ffeda0", "#000000"),
    0.80: ("80%", "#a9341f", "#ffffff"),
}


@pytest.mark.parametrize(("given", "expected"), FINAL.items())
def test_final_rule(given: tuple[Any, Any], expected: tuple[str, str, str]) -> None:
    look = final_rule(given[0], SLO, given[1])
    assert (look.text, look.background, look.colour) == expected


@pytest.mark.parametrize(("given", "expected"), OLDER.items())
def test_older_rule(given: tuple[Any, Any], expected: tuple[str, str, str]) -> None:
    look = older_rule(given[0], SLO, given[1])
    assert (look.text, look.background, look.colour) == expected


@pytest.mark.parametrize(("given", "expected"), ACHIEVED.items())
def test_achieved_rule(given: float | None, expected: tuple[str, str, str]) -> None:
    look = achieved_rule(given, 1_234.4)
    assert (look.text, look.background, look.colour) == expected


def test_achieved_rates_have_the_colours_of_their_shares() -> None:
    look = achieved_rule(0.80, 1_234.4, normalized=False)
    assert (look.text, look.background) == ("1234", "#a9341f")
    assert achieved_rule(None, None, normalized=False).text == "N/A"


def test_absolute_latencies_have_the_same_colours() -> None:
    assert final_rule(1600, SLO, 1.0, normalized=False).text == "1600"
    assert final_rule(1600, SLO, 1.0, normalized=False).background == "#a9341f"
    assert final_rule(170, SLO, 0.5, normalized=False).text == "FAIL"
    assert older_rule(170, SLO, 1.0, normalized=False).text == "170"


# A server that is slowed down as follows: percent of the SLO of 5,000 µs, and share of the target.
SCRIPT = {
    "Baseline": ((34, 1.0), (42, 1.0), (90, 1.0)),
    "placebo": ((34, 1.0), (43, 1.0), (91, 1.0)),
    "busy": ((60, 1.0), (157, 0.97), (400, 0.93)),
    "heavy": ((120, 0.91), (310, 0.85), (500, 0.50)),
}
# Of busy at half of the peak two repetitions count, too few to resolve it: 157 · √(0.99 · 1.00).
# There the placebo lies above all of the baseline in every round: 43 · 0.99 > 42 · 1.01.
ROWS = """
aggressor 2.0k   5.0k 10.0k
Baseline   34%    42%   90%
placebo   ≈34%    43%  ≈91%
busy       60% ≈156%* >300%
heavy     120%   FAIL  FAIL
"""
COLOURS = {
    "Baseline": ["#98cc70", "#98cc70", "#98cc70"],
    "placebo": ["#98cc70", "#98cc70", "#98cc70"],
    "busy": ["#98cc70", "#ffeda0", "#a9341f"],
    "heavy": ["#ffeda0", "#b0c0b0", "#b0c0b0"],
}
OLDER_COLOURS = {
    "Baseline": ["#98cc70", "#98cc70", "#98cc70"],
    "placebo": ["#98cc70", "#98cc70", "#98cc70"],
    "busy": ["#98cc70", "#a9341f", "#a9341f"],
    "heavy": ["#ffeda0", "#a9341f", "#a9341f"],
}
ACHIEVED_ROWS = {
    "Baseline": ["100%", "100%", "100%"],
    "placebo": ["100%", "100%", "100%"],
    "busy": ["100%", "97%*", "93%"],
    "heavy": ["91%", "85%", "50%"],
}


def scripted(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
    """Rounds differ by 1 %; one iteration was sent late."""
    share, achieved = SCRIPT[data["aggressor"]][data["load_index"]]
    p99_us = 50 * share * (0.99, 1.0, 1.01)[(round_ + data["repeat"]) % 3]
    spoiled = (data["aggressor"], data["load_index"], round_) == ("busy", 1, 2)
    late = {"send_late_ns": histogram({900: 100})} if spoiled else None
    return Scripted(p99_us * (9 if spoiled else 1), achieved, client=late)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    parent = tmp_path_factory.mktemp("results")
    return load_run(make_run(parent, scripted, ("placebo", "busy", "heavy")))


@pytest.fixture(scope="module")
def profile(run: Run) -> Profile:
    return profile_of(run.cells[0])


def test_a_scripted_slowdown_gives_the_table(profile: Profile) -> None:
    (found,) = tables.latency_tables(profile)
    assert found.title == "p99 in % of the SLO of 5,000 µs (same-core, isolation none)"
    assert grid.lines(found.columns, found.rows)[1:] == ROWS.strip().splitlines()


def test_a_scripted_slowdown_gives_the_colours(profile: Profile) -> None:
    for look, expected in (
        (tables.latency_look(profile), COLOURS),
        (tables.latency_look(profile, tables.older_rule), OLDER_COLOURS),
    ):
        made = tables.coloured(profile, "", look)
        assert {name: [one.background for one, _ in row] for name, row in made.rows} == expected
        assert made.heads == ["2.0k", "5.0k", "10.0k"]


def test_achieved_loads(profile: Profile) -> None:
    made = tables.coloured(profile, "", tables.achieved_look)
    assert {name: [one.text for one, _ in row] for name, row in made.rows} == ACHIEVED_ROWS


def test_a_field_says_its_interval(profile: Profile) -> None:
    said = tables.words(profile, profile.fields["heavy", 0])
    assert said.startswith("p99 6,00")
    assert (
        "95 % interval of the geometric mean, 6,000 µs: 5,8" in said
        and "achieved 91.0%, 3 rounds" in said
    )
    assert tables.words(profile, profile.fields["busy", 1]).endswith("2 rounds; 1 left out")


def test_the_terminals_table_has_it(run: Run) -> None:
    text = table.render(run.cells, 1.5, "results")
    assert ROWS.strip() in text
    assert "requests were sent late" in text
    assert max(map(len, text.splitlines())) <= 100


def test_ten_loads_and_long_names_are_legible_at_100_columns(tmp_path: Path) -> None:
    """Beside each other as far as there is room; more loads follow in a second table."""
    loads = [round(0.0909 * step, 4) for step in range(1, 12)]

    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        return Scripted(50_000, peak_per_s=1_000_000)

    made = load_run(make_run(tmp_path, script, ("stress-ng-cache-l3",), loads, rounds=1))
    text = table.render(made.cells, 1.5, "results")
    assert max(map(len, text.splitlines())) <= 100
    heads = [line for line in text.splitlines() if line.startswith("aggressor   ")]
    heads = [line for line in heads if line.endswith(("k", "M"))]
    assert len(heads) == 2 and len(heads[0].split()) == 11
