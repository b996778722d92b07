"""Runs as crashes, full disks and people leave them: the rest counts, the gap says why."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from turntable import table
from turntable.__main__ import main
from turntable.analyze import rebuild
from turntable.load import load_run
from turntable_core.errors import TurntableError

from . import recordings

ATTEMPT = f"raw/{recordings.CELL}/r0/i1/a1"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return recordings.copy_run(tmp_path)


def change(file: Path) -> None:
    file.write_text(file.read_text().replace('"server_ops":2249', '"server_ops":2250'))


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:1000])


def replace_by_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (change, "not what the journal recorded (SHA-256 "),
        (cut_off, "not what the journal recorded (SHA-256 "),
        (Path.unlink, "No such file or directory"),
        (replace_by_directory, "Is a directory"),
    ],
)
def test_raw_file_is_a_gap_with_its_reason(
    run: Path, damage: Callable[[Path], None], what: str
) -> None:
    damage(run / ATTEMPT / "client1.json")
    table = rebuild(run)
    (row,) = rows(run)
    assert (row["iterations_ok"], row["normalized_throughput"]) == ("3", "")
    reason = f"1 of 4 iterations are missing; {ATTEMPT}/client1.json: {what}"
    assert row["verdict"].startswith(f"invalid: {reason}")
    page = (run / "report.html").read_text()
    assert f"{ATTEMPT}/client1.json: {what}" in page
    assert ATTEMPT in table


@pytest.mark.parametrize("content", [None, "", "[]", "{"])
def test_manifest_decides_what_numbers_mean_not_what_they_are(
    run: Path, content: str | None
) -> None:
    if content is None:
        (run / "manifest.json").unlink()
    else:
        (run / "manifest.json").write_text(content)
    rebuild(run)
    (row,) = rows(run)
    assert (row["fidelity_class"], row["normalized_throughput"]) == ("unknown", "3.5052")
    assert row["verdict"].startswith("invalid: manifest.json cannot be read")


@pytest.mark.parametrize("content", [None, "", "{}", "[]", "not json"])
def test_without_a_plan_nothing_is_written(run: Path, content: str | None) -> None:
    if content is None:
        (run / "plan.json").unlink()
    else:
        (run / "plan.json").write_text(content)
    with pytest.raises(TurntableError, match=r"plan\.json"):
        rebuild(run)
    assert not (run / "summary.csv").exists()


def test_killed_in_the_middle_of_an_attempt(run: Path) -> None:
    """Raw files without a line in the journal, and a line that was being written."""
    recordings.drop_attempt(run, 3)
    with (run / "journal.ndjson").open("a") as journal:
        journal.write('{"cell": "9d633a7a7f89", "round": 0, "iter')
    rebuild(run)
    (row,) = rows(run)
    assert (row["iterations_ok"], row["verdict"]) == (
        "3",
        "invalid: 1 of 4 iterations are missing",
    )


def test_foreign_files_are_left_alone(run: Path) -> None:
    rebuild(run)
    page, summary = (run / "report.html").read_bytes(), (run / "summary.csv").read_bytes()
    strange = [
        run / "notes.txt",
        run / "raw" / "copy of raw.zip",
        run / "raw" / recordings.CELL / "r7" / "i0" / "a1" / "client0.json",
        run / ATTEMPT / "client9.json",
        run / ATTEMPT / ".client0.json.swp",
    ]
    for file in strange:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("mine")
    rebuild(run)
    assert (run / "report.html").read_bytes() == page
    assert (run / "summary.csv").read_bytes() == summary
    assert all(file.read_text() == "mine" for file in strange)


def test_attempts_of_another_plan_do_not_count(run: Path) -> None:
    lines = recordings.journal(run)
    foreign = lines[0] | {"cell": "0123456789ab", "status": "failed", "failure_class": "timeout"}
    recordings.write_journal(run, [*lines, foreign | {"message": "of a cell that is not here"}])
    rebuild(run)
    (row,) = rows(run)
    assert (row["iterations_failed"], row["verdict"]) == ("0", "valid")
    assert "of a cell that is not here" in (run / "report.html").read_text()


def test_journal_damaged_before_its_end_is_named(run: Path) -> None:
    lines = (run / "journal.ndjson").read_text().splitlines()
    (run / "journal.ndjson").write_text("\n".join([lines[0], "#", *lines[2:], ""]))
    with pytest.raises(TurntableError, match=r"journal\.ndjson:2: not an attempt"):
        rebuild(run)


def test_older_derived_files_are_replaced(run: Path) -> None:
    for name in ("summary.csv", "cells.csv", "report.html"):
        (run / name).write_text("old")
    rebuild(run)
    assert all((run / n).read_text() != "old" for n in ("summary.csv", "cells.csv", "report.html"))


def rows(run: Path) -> list[dict[str, str]]:
    with (run / "summary.csv").open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_a_place_that_cannot_be_written_is_named(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "summary.csv").mkdir()
    monkeypatch.setattr("sys.argv", ["turntable", "summarize", str(run)])
    assert main() == 2
    assert capsys.readouterr().err == f"turntable: {run}/summary.csv: Is a directory\n"


def test_rounds_that_were_not_begun_have_one_line_for_all_of_them(run: Path) -> None:
    recordings.add_round(run, fewer=500)
    lines = recordings.journal(run)
    recordings.write_journal(run, [line for line in lines if line["round"] == 0])
    text = table.render(load_run(run).cells, None, "results")
    assert "1 of 2 rounds have not been measured: the run has not ended" in text
    assert sum(line.endswith(" not measured") for line in text.splitlines()) == 1
    assert "iterations are missing" not in text
    # One that was begun says what it lacks.
    recordings.write_journal(run, lines[:-1])
    assert "round 1: invalid: 1 of 4 iterations are missing" in table.render(
        load_run(run).cells, None, "results"
    )
