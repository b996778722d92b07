"""Rounds are repeated until results are known precisely enough, and not longer."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from turntable.load import load_run
from turntable.precision import is_needed, is_precise, lacking, still_skipped
from turntable.report import render
from turntable.summarize import summarize_directory
from turntable_core import catalogue, selection
from turntable_core.doctor import runs
from turntable_core.doctor.finding import OK
from turntable_core.run_directory import RunDirectory

from . import recordings


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return recordings.copy_run(tmp_path / "farreach_exp01_throughput", recordings.ROUNDS)


def row(value: float | None, verdict: str = "valid") -> dict[str, object]:
    return {"rate": value, "verdict": verdict}


# 100, 101, 102: standard deviation 1, t = 4.303 for 2 degrees of freedom: 4.303 / sqrt(3) = 2.484.
@pytest.mark.parametrize(("most", "precise"), [(0.0246, True), (0.0245, False)])
def test_the_half_width_decides(most: float, precise: bool) -> None:
    rows = [row(100), row(101), row(102)]
    assert is_precise(rows, {"rate": most}) is precise


@pytest.mark.parametrize(
    "rows",
    [
        [row(100), row(100)],
        [row(100), row(100), row(100, "invalid: steal")],
        [row(100), row(100), row(None)],
        [row(0), row(0), row(0)],
    ],
    ids=["two rounds", "two valid rounds", "two with a value", "a mean of zero"],
)
def test_too_little_is_known_of_few_rounds(rows: list[dict[str, object]]) -> None:
    assert not is_precise(rows, {"rate": 1.0})


def test_every_column_must_be_precise() -> None:
    rows = [row(100) | {"other": other} for other in (1, 2, 3)]
    assert is_precise(rows, {"rate": 0.01})
    assert not is_precise(rows, {"rate": 0.01, "other": 0.01})
    assert not is_precise(rows, {})


def with_a_fourth_round(run: Path, most: float) -> None:
    """Of workload A: 3.4771, 3.6167 and 3.5847, half-width 0.1836 of 3.5595 by cells.csv."""

    def change(plan: dict) -> None:
        plan["precision"] = {"normalized_throughput": most}
        plan["rounds"] = 4
        plan["turns"].insert(3, plan["turns"][2] | {"round": 3})

    recordings.edit_json(run / "plan.json", change)


@pytest.mark.parametrize(("most", "needed"), [(0.06, False), (0.05, True)])
def test_a_round_is_needed_while_the_ones_before_scatter(
    run: Path, most: float, needed: bool
) -> None:
    with_a_fourth_round(run, most)
    turn = RunDirectory(run).plan().turns[3]
    assert turn.round == 3
    assert is_needed(run, turn) is needed


def test_what_is_not_needed_is_not_missing(run: Path) -> None:
    with_a_fourth_round(run, 0.06)
    directory = RunDirectory(run)
    plan, turn = directory.plan(), directory.plan().turns[3]
    assert len(load_run(run).cells[0].turns) == 4
    assert len(selection.work(plan, directory.attempts(), None, directory.skipped())) == 4
    directory.skip(turn.cell.id, turn.round)
    directory.skip(turn.cell.id, turn.round)
    assert json.loads(directory.skipped_file.read_text()) == [[turn.cell.id, 3]]
    assert selection.work(plan, directory.attempts(), None, directory.skipped()) == []
    (cell, _) = load_run(run).cells
    assert [turn.valid for turn in cell.turns] == [True] * 3
    state = catalogue.state_of(run, run.parents[1])
    assert (state.done, state.total) == (24, 24)
    finding = list(runs.findings(run.parents[1], run))[-1]
    assert (finding.level, finding.command) == (OK, "")
    assert finding.text.endswith(": 24 of 24 iterations measured")


def test_a_round_that_somebody_began_nevertheless_is_missing(run: Path) -> None:
    with_a_fourth_round(run, 0.06)
    directory = RunDirectory(run)
    plan, turn = directory.plan(), directory.plan().turns[3]
    directory.skip(turn.cell.id, turn.round)
    begun = recordings.journal(run)[0] | {"cell": turn.cell.id, "round": 3, "iteration": 1}
    failed = {"status": "failed", "failure_class": "timeout", "message": "made up", "files": {}}
    recordings.write_journal(run, [*recordings.journal(run), begun | failed])
    assert len(selection.work(plan, directory.attempts(), None, directory.skipped())) == 4
    state = catalogue.state_of(run, run.parents[1])
    assert (state.done, state.total) == (24, 28)


def test_what_was_not_needed_is_asked_anew_when_the_run_is_continued(run: Path) -> None:
    with_a_fourth_round(run, 0.06)
    directory = RunDirectory(run)
    turn = directory.plan().turns[3]
    directory.skip(turn.cell.id, turn.round)
    assert still_skipped(directory) == {(turn.cell.id, 3)}
    # `only` measured the third round of this cell again, less well.
    kept = [
        line
        for line in recordings.journal(run)
        if (line["cell"], line["round"], line["iteration"]) != (turn.cell.id, 2, 0)
    ]
    recordings.write_journal(run, kept)
    assert still_skipped(directory) == set()
    assert directory.skipped() == {(turn.cell.id, 3)}  # asking changes nothing
    directory.skip_only(still_skipped(directory))
    assert ask_turn(run, turn.cell.id, 3) == {"changed": False, "needed": True}


def test_rounds_that_are_not_needed_are_told_once(run: Path) -> None:
    with_a_fourth_round(run, 0.06)

    def add_a_fifth(plan: dict) -> None:
        plan["rounds"] = 5
        plan["turns"].insert(4, plan["turns"][3] | {"round": 4})

    recordings.edit_json(run / "plan.json", add_a_fifth)
    cell = RunDirectory(run).plan().turns[0].cell.id
    first, second = (ask_turn(run, cell, number) for number in (3, 4))
    assert first == {
        "changed": True,
        "needed": False,
        "report": "workloada nocache 4: known precisely enough after 3 rounds, of at most 5",
    }
    assert second == {"changed": False, "needed": False}
    assert RunDirectory(run).skipped() == {(cell, 3), (cell, 4)}


def ask_turn(run: Path, cell: str, number: int) -> dict[str, object]:
    """What the action of this name returns."""
    file = Path(__file__).parents[2] / "plugins" / "action" / "ask_turn.py"
    spec = importlib.util.spec_from_file_location("ask_turn", file)
    action = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(action)
    at = {"run": str(run), "cell": cell, "round": number}
    return action.ActionModule.perform(None, {"at": at, "only": None}, {})


def ask(run: Path, most: float, rounds: int = 3, column: str = "normalized_throughput") -> None:
    """Of ROUNDS, whose three rounds leave 5.16 % (workload A) and 5.10 % (C) by cells.csv."""

    def change(plan: dict) -> None:
        plan["precision"] = {column: most}
        plan["rounds"] = rounds

    recordings.edit_json(run / "plan.json", change)


def rows(text: str) -> list[list[str]]:
    """Of the table of what precision was reached."""
    table = text.partition("Precision: ")[2]
    return [line.split() for line in table.splitlines() if line.startswith("workload")][:2]


def test_what_max_rounds_left_unknown_is_said_and_is_not_invalid(run: Path) -> None:
    ask(run, 0.0513)
    summary = summarize_directory(run)
    assert summary.valid
    assert [line[-8:] for line in rows(summary.table)] == [
        ["5.13", "%", "5.16", "%", "3", "3", "3", "no"],
        ["5.13", "%", "5.1", "%", "3", "3", "3", "yes"],
    ]
    assert (
        "Precision not reached: normalized_throughput of workloada · nocache · 4 servers is known "
        "to ±5.16 % after 3 rounds (max_rounds); asked: ±5.13 %"
    ) in " ".join(summary.table.split())
    assert summary.table.count("Precision not reached") == 1


def test_the_report_says_what_max_rounds_left_unknown(run: Path) -> None:
    ask(run, 0.0513)
    page = render(load_run(run))
    (banner,) = re.findall('<section class="verdict valid">.*?</section>', page, re.DOTALL)
    assert "normalized_throughput of workloada · nocache · 4 servers is known to ±5.16 %" in banner
    assert "workloadc" not in banner
    assert "<td>5.1 %</td>" in page  # in the table, which has all cells
    ask(run, 0.06)
    page = render(load_run(run))
    assert "Precision not reached" not in page
    assert "<td>5.16 %</td>" in page


def test_a_run_that_asked_for_no_precision_says_nothing_about_it(run: Path) -> None:
    assert "Precision" not in summarize_directory(run).table
    assert "<h2>Precision" not in render(load_run(run))


def test_what_is_not_measured_yet_may_still_be_known(run: Path) -> None:
    with_a_fourth_round(run, 0.05)
    text = " ".join(summarize_directory(run).table.split())
    assert "Precision not reached yet: normalized_throughput of workloada" in text
    assert "after 3 of 4 rounds; asked: ±5 %" in text


def test_fewer_than_three_valid_rounds_have_no_precision(run: Path) -> None:
    ask(run, 0.5)
    recordings.edit_json(
        run / "plan.json", lambda plan: plan["validity"].update(busiest_utilization=[1, 1])
    )
    table = summarize_directory(run).table
    assert [line[-7:] for line in rows(table)] == [["50", "%", "-", "0", "3", "3", "no"]] * 2
    assert "has 0 valid rounds, and needs 3, after 3 rounds (max_rounds)" in " ".join(table.split())


NEEDS_ROUNDS = "has 2 valid rounds, and needs 3,"
NO_VALUE = "has no value in {} of 3 valid rounds, and needs 3 values,"
NO_SHARE = "has mean 0, of which no interval is a share,"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([None, None, None], NO_VALUE.format(3)),
        ([1.0, None, 1.2], NO_VALUE.format(1)),
        ([-1.0, 0.0, 1.0], NO_SHARE),
        ([0.0, 0.0, 0.0], NO_SHARE),
        ([1.0, None], NEEDS_ROUNDS),
        ([1.0, 1.2], NEEDS_ROUNDS),
    ],
    ids=str,
)
def test_why_no_precision_is_known(run: Path, values: list[float | None], reason: str) -> None:
    ask(run, 0.5, rounds=len(values))
    cell = load_run(run).cells[0]
    turns = [
        replace(turn, row=turn.row | {"normalized_throughput": value})
        for turn, value in zip(cell.turns, values, strict=False)
    ]
    assert lacking([replace(cell, turns=tuple(turns))]) == [
        f"Precision not reached: normalized_throughput of {cell.label} {reason} "
        f"after {len(values)} rounds (max_rounds); asked: ±50 %"
    ]


def test_the_table_counts_valid_rounds_also_without_a_value(run: Path) -> None:
    ask(run, 0.5, column="paper_normalized")
    assert all(turn.row["paper_normalized"] is None for turn in load_run(run).turns)
    shown = rows(summarize_directory(run).table)
    assert [line[-7:] for line in shown] == [["50", "%", "-", "3", "3", "3", "no"]] * 2
