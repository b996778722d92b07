"""The runner of P4Testgen's tests, with a stand-in for p4testgen that writes prepared files."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from . import p4testgen
from .p4testgen import Generator, Player, Verdict, main, passes, summary

# NoCache drops what is no IP frame.
FILES = {"drop_1": "packet 1 00\n", "drop_2": "packet 1 00\nexpect 1 00$\n", "odd": "what\n"}


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """Writes FILES for a program called nocache, and fails for others."""
    path = tmp_path / "p4testgen"
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    for name, text in FILES.items():
        (prepared / f"{name}.stf").write_text(text)
    path.write_text(
        "#!/bin/sh\n"
        'while [ "$1" != --out-dir ]; do shift; done\n'
        'case $3 in *nocache.p4) ;; *) echo "error: not for me"; exit 3 ;; esac\n'
        f"cp {prepared}/*.stf $2\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def player(fake: Path, build_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Player:
    library = build_dir / "lib" / "p4" / "nocache.so"
    monkeypatch.setattr(p4testgen, "compile_program", lambda *_: library)
    return Player(Generator(fake, 10), build_dir, tmp_path)


def test_every_test_is_played_and_each_failure_has_its_reason(
    player: Player, tmp_path: Path
) -> None:
    verdict = player.judge(tmp_path / "nocache.p4")
    assert (verdict.passed, verdict.total) == (1, 3)
    assert verdict.failed == [
        "drop_2.stf: missing: ['port 1 00$']; besides: none",
        "odd.stf: line 1: 'what': expected add, setdefault, packet or expect",
    ]


def test_program_without_tests_is_named(player: Player, tmp_path: Path) -> None:
    verdict = player.judge(tmp_path / "other.p4")
    assert verdict.skipped == "not tested: p4testgen wrote no test (status 3): error: not for me"


def test_summary_and_goal() -> None:
    verdicts = [Verdict("a", 9), Verdict("b", 9, ["x: y", "x: z"]), Verdict("c", skipped="why")]
    assert summary("Samples", verdicts) == (
        "Samples: 18 of 20 tests pass (90.0%), of 2 programs; 1 not tested"
    )
    assert passes(verdicts, 0.9)
    assert not passes(verdicts, 0.91)


def test_missing_p4testgen_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--p4testgen", "/nowhere/p4testgen"])
    assert "expected P4TESTGEN=/path/to/p4testgen" in capsys.readouterr().err
