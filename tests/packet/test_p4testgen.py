"""The runner of P4Testgen's tests, with a stand-in for p4testgen that writes prepared files."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from . import p4testgen
from .p4testgen import Generator, Player, Verdict, main, passes, summary

TEST = """
class {name}(AbstractTest):
    def setupCtrlPlane(self):
        {entries}

    def sendPacket(self):
        send_packet(self, 1, b'\\x00')

    def verifyPackets(self):
        {expected}

    def runTest(self):
        self.runTestImpl()
"""
# NoCache drops what is no IP frame.
TESTS = "".join(
    [
        TEST.format(name="Test1", entries="pass", expected="pass"),
        TEST.format(
            name="Test2",
            entries="pass",
            expected="verify_packet(self, Mask(b'\\x00' * 30), 1)",
        ),
        TEST.format(
            name="Test3",
            entries="self.overrideDefaultEntry('nowhere', 'f')",
            expected="pass",
        ),
    ]
)


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """Writes TESTS for a program called nocache, and fails for others; notes each call."""
    path = tmp_path / "p4testgen"
    (tmp_path / "prepared.py").write_text(TESTS)
    path.write_text(
        "#!/bin/sh\n"
        f'echo "$*" >> {tmp_path}/calls\n'
        'while [ "$1" != --out-dir ]; do shift; done\n'
        'case $3 in *nocache.p4) ;; *) echo "error: not for me"; exit 3 ;; esac\n'
        f"cp {tmp_path}/prepared.py $2/nocache.py\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def player(fake: Path, build_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Player:
    library = build_dir / "lib" / "p4" / "nocache.so"
    monkeypatch.setattr(p4testgen, "compile_program", lambda *_: library)
    return Player(Generator(fake, 10, tmp_path / "tests"), build_dir, tmp_path)


def test_every_test_is_played_and_each_failure_has_its_reason(
    player: Player, tmp_path: Path
) -> None:
    verdict = player.judge(tmp_path / "nocache.p4")
    assert (verdict.passed, verdict.total) == (1, 3)
    assert verdict.failed == [
        f"Test2: missing: ['port 1 {'00' * 30}']; besides: none",
        "Test3: the program has 0 tables 'nowhere', expected one",
    ]


def test_a_known_mistake_of_p4testgens_is_said_and_is_no_failure_of_ours(
    player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(p4testgen.MISTAKES, "nocache", ("port 1 0{60}", "it knows no ports"))
    verdict = player.judge(tmp_path / "nocache.p4")
    assert [line.partition(":")[0] for line in verdict.mistaken] == ["Test2"]
    assert verdict.failed[0].endswith("P4Testgen's mistake: it knows no ports")
    assert verdict.total == 3


def test_a_runner_that_ends_is_a_failure_of_the_test(
    player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(p4testgen, "compile_program", lambda *_: tmp_path / "no.so")
    verdict = player.judge(tmp_path / "nocache.p4")
    assert verdict.total == 3
    assert all("p4run ended with status" in reason for reason in verdict.failed)


def test_tests_that_are_there_are_not_written_again(player: Player, tmp_path: Path) -> None:
    verdicts = [player.judge(tmp_path / "nocache.p4") for _ in range(2)]
    assert [verdict.total for verdict in verdicts] == [3, 3]
    assert len((tmp_path / "calls").read_text().splitlines()) == 1


def test_program_without_tests_is_named(player: Player, tmp_path: Path) -> None:
    verdict = player.judge(tmp_path / "other.p4")
    assert verdict.skipped == "not tested: p4testgen wrote no test: error: not for me"
    # The second call without a choice of paths: of some programs it finds more in that way.
    covering, plain = (tmp_path / "calls").read_text().splitlines()
    assert "GREEDY_STATEMENT_SEARCH" in covering
    assert "GREEDY_STATEMENT_SEARCH" not in plain


def test_program_of_which_no_path_ends_in_time_is_named(player: Player, tmp_path: Path) -> None:
    slow = tmp_path / "p4testgen"
    slow.write_text("#!/bin/sh\necho warning: much to do\nwhile :; do :; done\n")
    hasty = Player(Generator(slow, 10, tmp_path / "t", 1), player.build, player.directory)
    verdict = hasty.judge(tmp_path / "other.p4")
    assert verdict.skipped == "not tested: p4testgen wrote no test: no path ends within 1 s"


def test_summary_and_goal() -> None:
    verdicts = [Verdict("a", 9), Verdict("b", 9, ["x: y", "x: z"]), Verdict("c", skipped="why")]
    assert summary("Samples", verdicts) == (
        "Samples: 18 of 20 tests pass (90.0%), of 2 programs; 1 not tested"
    )
    assert passes(verdicts, 0.9)
    assert not passes(verdicts, 0.91)


def test_nothing_tested_is_not_passed(player: Player, capsys: pytest.CaptureFixture[str]) -> None:
    assert not passes([Verdict("c", skipped="p4testgen wrote no test")], 0.9)
    generator, build = player.generator, str(player.build)
    arguments = ["--p4testgen", str(generator.executable), "--build", build, "--only", "no such"]
    assert main(arguments) == 1
    assert "0 of 0 tests pass, of 0 programs" in capsys.readouterr().out


def test_missing_p4testgen_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--p4testgen", "/nowhere/p4testgen"])
    assert "expected P4TESTGEN=/path/to/p4testgen" in capsys.readouterr().err
