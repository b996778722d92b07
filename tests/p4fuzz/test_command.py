"""`make fuzz-translator`: what it prints, and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import __main__ as command
from .campaign import Result
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


def test_without_p4run_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TURNTABLE_BUILD_DIR", str(tmp_path))
    assert command.main(["--hours", "0"]) == 2
    assert f"no p4run in {tmp_path}/bin; run: make build" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [(["--hours", "-1"], "expected a number from 0"), (["--jobs", "0"], "expected at least 1")],
)
def test_bad_arguments(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert expected in capsys.readouterr().err
