"""`make fuzz-translator`: what it prints, and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest
from packet.p4testgen import Verdict

from . import __main__ as command
from .campaign import Opinion, Result
from .execution import Difference

DIFFERENCE = Difference("frames", "frame 0, port 1, 00")


@pytest.fixture
def build_dir_of_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "p4run").touch()
    monkeypatch.setenv("TURNTABLE_BUILD_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("found", "status"), [(None, 0), (DIFFERENCE, 1)])
def test_exit_status_says_whether_something_differed(
    build_dir_of_command: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    found: Difference | None,
    status: int,
) -> None:
    results = [Result(7, 60, None), Result(8, 60, found)]
    monkeypatch.setattr(command, "campaign", lambda *_: iter(results))
    assert command.main(["--hours", "0", "--seed", "7"]) == status
    out = capsys.readouterr().out
    assert f"2 programs, 120 packets, {status} differences" in out
    assert "seeds 7 to 8; to go on: SEED=9" in out
    failure = f"seed 8: frames; {build_dir_of_command}/fuzz-translator/seed-8"
    assert (failure in out) == bool(found)


@pytest.mark.parametrize(("failed", "status"), [([], 0), (["test 3: missing: port 1"], 1)])
def test_p4testgens_opinion_is_counted(
    build_dir_of_command: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failed: list[str],
    status: int,
) -> None:
    skipped = Verdict("seed-7", skipped="not tested: p4testgen wrote no test: no path ends")
    opinions = [Opinion(7, skipped), Opinion(8, Verdict("seed-8", 4, failed))]
    monkeypatch.setattr(command, "campaign", lambda *_: iter(opinions))
    assert command.main(["--hours", "0", "--p4testgen", "true"]) == status
    out = capsys.readouterr().out
    tests = f"2 programs: P4Testgen wrote {4 + status} tests of 1, {status} failed"
    assert f"{tests}; to go on: SEED=9" in out
    assert "     1 not tested: p4testgen wrote no test: no path ends" in out
    assert (f"seed 8: {build_dir_of_command}/fuzz-translator/p4testgen-8" in out) == bool(failed)


def test_without_p4run_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TURNTABLE_BUILD_DIR", str(tmp_path))
    assert command.main(["--hours", "0"]) == 2
    assert f"no p4run in {tmp_path}/bin; run: make build" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--hours", "-1"], "expected a number from 0"),
        (["--jobs", "0"], "expected at least 1"),
        (["--p4testgen", "no-such"], "no-such is no program"),
    ],
)
def test_bad_arguments(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert expected in capsys.readouterr().err
