"""The analysis of a system that it does not know: the one of fakes/, in a directory of its own."""

from __future__ import annotations

import csv
import importlib.util
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from matplotlib.axes import Axes

import turntable.systems
from turntable import load, load_run, plot, results, tidy
from turntable.notebook import write_notebook
from turntable.report import render
from turntable.results import CellResult
from turntable.standing import standing_of
from turntable.summarize import summarize_run
from turntable.system import analysis_of
from turntable_core import files, journal, selection, timeline
from turntable_core.errors import TurntableError
from turntable_core.plan import Plan, Turn
from turntable_core.run_directory import RunDirectory
from turntable_core.spec import Scale

from .plans import make_plan
from .recorded import write_run


@pytest.fixture(autouse=True)
def _analysis_of_the_fake_system(monkeypatch: pytest.MonkeyPatch) -> None:
    directory = Path(__file__).parent / "fakes" / "analysis"
    monkeypatch.setattr(turntable.systems, "__path__", [str(directory)])


@pytest.fixture
def plan(scale: Scale) -> Plan:
    """One cell and round, four stations."""
    return make_plan(replace(scale, rounds=1, factors={**scale.factors, "load": ["light"]}))


@pytest.fixture
def run(tmp_path: Path, plan: Plan) -> RunDirectory:
    """Two senders, windows of two seconds; 30, 31, 32 and 33 answers at the stations."""
    run = write_run(tmp_path / "results" / "tiny" / "r1", plan)
    for index in range(4):
        measure(run, plan.turns[0], index, [[10, 5], [10, 5 + index]])
    return run


def measure(
    run: RunDirectory,
    turn: Turn,
    index: int,
    answered: list[list[int]],
    events: Sequence[Mapping[str, object]] = (),
) -> None:
    """answered: of each sender, by second; each in 1 ms. events: of the timeline."""
    number = run.next_attempt(turn.cell.id, turn.round, index)
    directory = run.path / journal.attempt_directory(turn.cell.id, turn.round, index, number)
    written = {}
    for sender, counts in enumerate(answered):
        histogram = HdrHistogram(1, 10**10, 3)
        histogram.record_value(1_000_000, sum(counts) or 1)
        stats = {
            "window_ns": 2 * 10**9, "asked": sum(counts), "answered": counts, "garbled": 0,
            "latency_ns": histogram.encode().decode(),
        }  # fmt: skip
        answers = [{"node": "sender", "command": "stats", "result": stats}]
        if events:
            done = {"events": list(events)}
            answers.append({"node": "supervisor", "command": "events", "result": done})
        content = files.to_json({"format": 1, "host": f"sender{sender}", "answers": answers})
        name = f"sender{sender}.json"
        written[name] = files.write_once(directory / name, content)
    described = files.to_json({"format": 1, "start_at_ns": 5 * 10**9})
    written["iteration.json"] = files.write_once(directory / "iteration.json", described)
    made = journal.Attempt(
        turn.cell.id, turn.round, index, number, journal.OK, 0, 1, overhead_s=0.25, files=written
    )
    journal.append(run.journal_file, made)


def test_summary_has_the_columns_of_the_system(run: RunDirectory) -> None:
    table = summarize_run(load_run(run.path)).table
    with (run.path / "summary.csv").open(newline="", encoding="utf-8") as lines:
        (row,) = csv.DictReader(lines)
    assert list(row)[:9] == [
        "experiment", "profile", "fidelity_class", "system", "method", "load", "round",
        "answered_per_s", "paper_answered",
    ]  # fmt: skip
    # (30 + 31 + 32 + 33) / 2 s.
    assert (row["system"], row["answered_per_s"], row["verdict"]) == ("fake", "63.0", "valid")
    assert float(row["latency_p50_us"]) == pytest.approx(1000, rel=1e-3)
    assert "late start" in row["not_checked"]
    (line,) = (line.split() for line in table.splitlines() if line.startswith("light"))
    assert line == ["light", "plain", "4", "63.0", "valid"]
    cells = (run.path / "cells.csv").read_text().splitlines()
    assert cells[0].split(",")[6:10] == [
        "rounds", "valid_rounds", "answered_per_s", "answered_per_s_half_width",
    ]  # fmt: skip


def test_a_rule_of_the_system_makes_a_round_invalid(run: RunDirectory, plan: Plan) -> None:
    measure(run, plan.turns[0], 1, [[0, 0], [0, 0]])
    loaded = load_run(run.path)
    assert loaded.rows[0]["verdict"] == "invalid: nothing was asked at b"
    assert " - " in summarize_run(loaded).table


def test_the_report_needs_no_partial_of_the_system(run: RunDirectory) -> None:
    page = render(load_run(run.path))
    assert "<td>63.0</td>" in page
    assert "light · plain · 4" in page
    assert "by iteration, every second of the measurement windows" in page
    assert "Cumulative distribution of the latency" in page


def test_the_timeline_is_drawn_and_what_it_left_undone_is_a_reason(
    tmp_path: Path, plan: Plan
) -> None:
    events = timeline.read([{"at_s": 1.5, "kill": "receiver0"}, {"at_s": 2, "start": "receiver0"}])
    run = write_run(tmp_path / "results" / "tiny" / "r2", replace(plan, timeline=events))
    # The clients start at 5 s and warm up for 1 s: half a second into the window.
    begun = {"at_ns": 6_500_000_000, "label": "kill receiver0", "began_ns": 6_500_000_000}
    begun |= {"ended_ns": 6_600_000_000}
    late = {"at_ns": 7_000_000_000, "label": "start receiver0", "began_ns": 7_250_000_000}
    late |= {"ended_ns": 7_300_000_000}
    for index in range(4):
        done = [begun | {"error": None}, late | {"error": "refused" if index == 2 else None}]
        measure(run, plan.turns[0], index, [[10, 5]], events=done)
    (turn,) = load_run(run.path).turns
    assert [(event.at_s, event.label) for event in turn.measurements[0].events] == [
        (0.5, "kill receiver0"), (1.25, "start receiver0"),
    ]  # fmt: skip
    assert turn.reasons == ("start receiver0 was not done in iteration 2: refused",)
    page = render(load_run(run.path))
    assert page.count("kill receiver0, 0.5 s") == page.count("start receiver0, 1.2 s") == 4


def test_a_timeline_that_nobody_carried_out_is_a_reason(tmp_path: Path, plan: Plan) -> None:
    events = timeline.read([{"at_s": 1.5, "kill": "receiver0"}])
    run = write_run(tmp_path / "results" / "tiny" / "r2", replace(plan, timeline=events))
    hangs = {"at_ns": 6_500_000_000, "label": "kill receiver0", "began_ns": 1}
    hangs |= {"ended_ns": None, "error": None}
    for index in range(4):
        told = [hangs] if index == 1 else [hangs | {"ended_ns": 2}] if index == 2 else []
        measure(run, plan.turns[0], index, [[10, 5]], events=told)
    (turn,) = load_run(run.path).turns
    assert turn.reasons == (
        "kill receiver0 was not done in iteration 0: no host told of it",
        "kill receiver0 was not done in iteration 1: it had not ended when the measurement had",
        "kill receiver0 was not done in iteration 3: no host told of it",
    )


def told(at_s: float, label: str) -> Mapping[str, object]:
    """As a supervisor tells of what it has done at its instant."""
    at_ns = 5 * 10**9 + round(at_s * 1e9)
    return {"at_ns": at_ns, "label": label, "began_ns": at_ns, "ended_ns": at_ns + 1, "error": None}


def test_an_event_is_known_in_the_words_of_an_older_version(tmp_path: Path, plan: Plan) -> None:
    impair = {"host": "sender0", "direction": "rx", "rules": [{"drop_every": 100}]}
    planned = [{"at_s": 1.5, "impair": impair}, {"at_s": 2, "impair": impair}]
    events = timeline.read([*planned, {"at_s": 2, "heal": "sender0"}])
    run = write_run(tmp_path / "results" / "tiny" / "r2", replace(plan, timeline=events))
    old = "impair sender0 rx [{'drop_every': 100}]"
    first, second = told(1.5, old), told(2, old)
    healed = told(2, "heal sender0")
    # Of two, one was not done: not what had the same words at another instant.
    for index, done in enumerate([(first, second), (first,), (second,), (first, second)]):
        measure(run, plan.turns[0], index, [[10, 5]], events=[*done, healed])
    (turn,) = load_run(run.path).turns
    lacking = "impair sender0 rx drop_every 100 was not done in iteration"
    assert turn.reasons == (
        f"{lacking} 1: no host told of it", f"{lacking} 2: no host told of it",
    )  # fmt: skip


def test_what_two_hosts_did_is_not_two_events(tmp_path: Path, plan: Plan) -> None:
    events = timeline.read([{"at_s": 1.5, "hurry": 1}, {"at_s": 1.5, "hurry": 2}])
    run = write_run(tmp_path / "results" / "tiny" / "r2", replace(plan, timeline=events))
    for index in range(4):
        others = [told(1.5, "hurry 2")] if index else []
        measure(run, plan.turns[0], index, [[10], [5]], events=[told(1.5, "hurry 1"), *others])
    (turn,) = load_run(run.path).turns
    assert turn.reasons == ("hurry 2 was not done in iteration 0: no host told of it",)


def test_an_iteration_that_is_to_be_repeated_is_not_done(run: RunDirectory, plan: Plan) -> None:
    work, turn = selection.work(plan, [], None), plan.turns[0]
    *others, last = run.attempts()
    attempts = [*others, replace(last, disturbed="stolen", repeat=True)]
    standing = standing_of(run.path, plan, turn, work, attempts, None, will_retry=True)
    assert (standing["done"], standing["total"]) == (3, 4)
    # 1 s to warm up and 1 s window by the plan, 0.25 s overhead as measured.
    assert standing["eta_s"] == 2.25


def test_lines_that_follow_the_run(run: RunDirectory, plan: Plan) -> None:
    work = selection.work(plan, [], None)
    attempts = run.attempts()
    turn = plan.turns[0]
    measured = load.read_measurement(run, plan, turn, attempts[0])
    first = standing_of(run.path, plan, turn, work, attempts[:1], measured, will_retry=False)
    assert (first["iteration_label"], first["facts"]) == ("station a", [[1, "30 answered"]])
    assert first["result"] is None
    last = standing_of(run.path, plan, turn, work, attempts, None, will_retry=False)
    assert last["facts"] == []
    assert (last["done"], last["result"]["facts"]) == (4, [[0, "63/s"]])


def test_an_attempt_s_raw_files_are_read_once(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What says whether the machine disturbed it is what the progress line shows."""
    run = write_run(tmp_path / "results" / "tiny" / "r2", plan)
    measure(run, plan.turns[0], 0, [[10, 5], [10, 5]])
    run.journal_file.unlink()  # as before the attempt is recorded
    (
        run.path / journal.attempt_directory(plan.turns[0].cell.id, 0, 0, 1) / "iteration.json"
    ).unlink()
    read: list[str] = []
    reading = load._read_checked

    def counting(of: RunDirectory, name: str, digest: str) -> Mapping[str, object]:
        read.append(Path(name).name)
        return reading(of, name, digest)

    monkeypatch.setattr(load, "_read_checked", counting)
    done = record_attempt(run, plan.turns[0])
    assert done["progress"]["facts"] == [[1, "30 answered"]]
    assert sorted(read) == ["sender0.json", "sender1.json"]


def test_an_attempt_that_cannot_be_read_has_failed_and_is_tried_again(
    tmp_path: Path, plan: Plan
) -> None:
    run = write_run(tmp_path / "results" / "tiny" / "r2", plan)
    measure(run, plan.turns[0], 0, [[10, 5]])
    directory = forget_recording(run)
    (directory / "sender0.json").write_text('{"host": "sender0", "answers": []}')
    with pytest.raises(TurntableError, match=r"/i0/a1: .*cannot read .*IndexError") as caught:
        record_attempt(run, plan.turns[0])
    assert run.attempts() == []
    # As the playbook does then.
    failed = {"status": journal.FAILED, "failure_class": "internal", "message": str(caught.value)}
    again = record_attempt(run, plan.turns[0], **failed, max_attempts=2)["again"]
    assert again
    (attempt,) = run.attempts()
    assert (attempt.status, attempt.attempt) == (journal.FAILED, 1)
    assert "IndexError" in attempt.message
    assert (plan.turns[0], plan.turns[0].iterations[0]) in journal.missing(plan, run.attempts())


def test_a_measurement_that_cannot_be_judged_is_recorded(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path / "results" / "tiny" / "r2", plan)
    measure(run, plan.turns[0], 0, [[10, 5]])
    forget_recording(run)

    def fail(*_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr(load, "judge", fail)
    record_attempt(run, plan.turns[0])
    assert [attempt.status for attempt in run.attempts()] == [journal.OK]


def test_an_iteration_that_the_analysis_cannot_read_is_a_gap_with_its_reason(
    run: RunDirectory, plan: Plan
) -> None:
    measure(run, plan.turns[0], 1, [])  # no sender answered, and the journal says ok
    (turn,) = load_run(run.path).turns
    assert len(turn.measurements) == 3
    missing, reason = turn.reasons
    assert missing == "1 of 4 iterations are missing"
    assert reason.startswith(f"raw/{plan.turns[0].cell.id}/r0/i1/a2: ")
    assert "IndexError" in reason
    assert summarize_run(load_run(run.path)).table


def forget_recording(run: RunDirectory) -> Path:
    """Of the only attempt; returns its directory."""
    (attempt,) = run.attempts()
    run.journal_file.unlink()
    (run.path / attempt.directory / "iteration.json").unlink()
    return run.path / attempt.directory


def record_attempt(run: RunDirectory, turn: Turn, **others: object) -> Mapping[str, Any]:
    """What the action of this name returns, of the first iteration's first attempt."""
    file = Path(__file__).parents[2] / "plugins" / "action" / "record_attempt.py"
    spec = importlib.util.spec_from_file_location("record_attempt", file)
    action = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(action)
    arguments = {
        "at": {"run": str(run.path), "cell": turn.cell.id, "round": turn.round, "iteration": 0},
        "number": 1, "began_at_ns": 0, "status": journal.OK, "start_at_ns": 5 * 10**9,
        "earlier_attempts": 0, "only": None, "repeats": 0,
    } | others  # fmt: skip
    return action.ActionModule.perform(None, arguments, {})


def drawn(cell: CellResult) -> Axes:
    """The figure of single seconds."""
    series = analysis_of(cell.run.plan).series
    (axes,) = plot.seconds(cell, series, "answered").figure.axes
    return axes


def test_a_column_of_the_figure_is_an_iteration(run: RunDirectory) -> None:
    axes = drawn(load_run(run.path).cells[0])
    assert axes.get_xlabel() == "iteration"
    assert axes.get_xlim() == (-0.5, 3.5)


def test_where_there_is_one_iteration_the_figure_has_its_seconds(
    tmp_path: Path, scale: Scale
) -> None:
    factors = {**scale.factors, "load": ["light"], "stations": [1]}
    plan = make_plan(replace(scale, rounds=2, factors=factors))
    events = timeline.read([{"at_s": 1.5, "kill": "receiver0"}])
    run = write_run(tmp_path / "results" / "tiny" / "r2", replace(plan, timeline=events))
    # The clients start at 5 s and warm up for 1 s: half a second into the window of two.
    killed = {"at_ns": 6_500_000_000, "label": "kill receiver0", "began_ns": 6_500_000_000}
    killed |= {"ended_ns": 6_600_000_000, "error": None}
    measure(run, plan.turns[0], 0, [[10, 5]], events=[killed])
    measure(run, plan.turns[1], 0, [[12, 7]], events=[killed])
    axes = drawn(load_run(run.path).cells[0])
    assert axes.get_xlabel() == "time in the measurement window (s)"
    assert axes.get_xlim() == (0, 2)
    *events, answered = axes.lines
    assert [list(line.get_xdata()) for line in events] == [[0.5, 0.5], [0.5, 0.5]]
    assert [text.get_text() for text in axes.texts] == ["kill receiver0, 0.5 s"]  # of one round
    points = [point for point in zip(*answered.get_data(), strict=True) if point[0] == point[0]]
    assert points == [
        (0, 10), (1, 10), (1, 5), (2, 5),
        (0, 12), (1, 12), (1, 7), (2, 7),
    ]  # fmt: skip


def test_frames_are_joined_by_the_identity_of_the_system(run: RunDirectory) -> None:
    loaded = load_run(run.path)
    identity = ["load", "method", "stations"]
    assert tidy.keys(loaded) == ["experiment", "run", "cell", *identity, "round", "valid"]
    seconds = tidy.seconds(loaded)
    assert list(seconds["value"]) == [20, 10, 20, 11, 20, 12, 20, 13]
    assert list(tidy.rounds(loaded)["answered_per_s"]) == [63.0]


def test_published_numbers_lie_beside_the_system(
    run: RunDirectory, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FURTHER", [tmp_path / "elsewhere", tmp_path / "further"])
    reference = tmp_path / "further" / "experiments" / "reference" / "paper.csv"
    reference.parent.mkdir(parents=True)
    reference.write_text("load,metric,value\nlight,answered_per_s,70\n")
    other = write_run(tmp_path / "r2", replace(plan, reference="reference/paper.csv"))
    loaded = load_run(other.path)
    assert loaded.reference_file == reference
    assert loaded.cells[0].paper == {"answered_per_s": 70.0}
    assert loaded.rows[0]["paper_answered"] == 70.0
    reference.unlink()
    with pytest.raises(TurntableError, match=r"experiments/reference/paper\.csv: cannot be read"):
        load_run(other.path)


def test_a_system_without_notebooks_says_so(run: RunDirectory) -> None:
    with pytest.raises(TurntableError, match="experiment tiny has no notebook"):
        write_notebook(run.path)


def test_the_analysis_may_lie_outside_of_the_repository() -> None:
    load = "from turntable.systems import fake, farreach; print(fake.ANALYSIS.result_columns)"
    done = subprocess.run(
        [sys.executable, "-c", load],
        env={"TURNTABLE_SYSTEMS": str(Path(__file__).parent / "fakes")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "answered_per_s" in done.stdout
