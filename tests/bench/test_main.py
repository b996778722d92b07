"""What becomes of a measurement that cannot be made or breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable_bench import __main__ as bench
from turntable_bench.comparison import OURS, YARDSTICK, Comparison, NotRunError, Outcome, Unit


@pytest.fixture
def build(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "softswitch").touch()
    return tmp_path


def measured(_settings: object) -> list[Outcome]:
    runs = {YARDSTICK: [1.0], OURS: [4.0]}
    return [Outcome(Comparison("slow", "theirs", "mine", Unit.CPU_S, goal=3), runs)]


def missing(_settings: object) -> list[Outcome]:
    raise NotRunError("db_bench is missing")


def broken(_settings: object) -> list[Outcome]:
    raise RuntimeError("lost requests")


@pytest.mark.parametrize(
    ("measure", "status", "words"),
    [
        (measured, 0, ["slow", "0.25", ">= 3", "not met"]),
        (missing, 0, ["not run", "db_bench is missing"]),
        (broken, 1, ["FAILED", "lost requests"]),
    ],
)
def test_exit_status_and_table(
    measure: bench.Measure,
    status: int,
    words: list[str],
    build: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bench, "MEASUREMENTS", {"one": measure, "two": measured})
    assert bench.main(["--build", str(build)]) == status
    said = capsys.readouterr().out
    assert all(word in said for word in words)
    assert "mine: 4.00 s CPU" in said  # the other measurement is there in any case


@pytest.mark.parametrize("arguments", [["no-such"], ["--rounds", "0"]])
def test_wrong_usage(arguments: list[str], build: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        bench.main([*arguments, "--build", str(build)])
