"""Programs that another generator writes: refused, at fault, or run."""

from __future__ import annotations

from pathlib import Path

import pytest
from packet import compilation

from . import __main__ as command
from .campaign import FRAMES, case_of
from .execution import Difference
from .p4smith import P4SmithError, Smith, Smithed, reason
from .print_program import source_of

COPYING = '#!/bin/sh\nfor last; do :; done\ncp "$0.p4" "$last"\n'


@pytest.fixture(scope="session")
def generator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In place of P4Smith: what lies beside it goes to its last argument."""
    return tmp_path_factory.mktemp("p4smith") / "p4smith"


@pytest.fixture(scope="session")
def smith(generator: Path, build_dir: Path) -> Smith:
    return Smith(generator, build_dir)


@pytest.fixture
def source(generator: Path) -> str:
    source = source_of(case_of(1).program)
    write(generator, source)
    return source


def write(generator: Path, source: str) -> None:
    generator.write_text(COPYING)
    generator.chmod(0o755)
    generator.with_suffix(".p4").write_text(source)


def test_a_program_that_is_taken_is_run(smith: Smith, source: str, tmp_path: Path) -> None:
    assert smith.examine(1, FRAMES, tmp_path) == Smithed(1)


def test_a_refusal_has_a_reason(smith: Smith, source: str, generator: Path, tmp_path: Path) -> None:
    write(generator, source.replace("(pipe) main;", "(pipe) main"))
    outcome = smith.examine(1, FRAMES, tmp_path)
    assert outcome.fault is None
    assert outcome.refusal.startswith("expected '…'")


def test_an_exception_of_the_translator_is_a_fault(
    smith: Smith, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("hdr")

    monkeypatch.setattr(compilation, "translate", broken)
    outcome = smith.examine(3, FRAMES, tmp_path)
    assert outcome.fault == Difference("translator", "KeyError: 'hdr'")
    assert (tmp_path / "p4smith-3" / "program.p4").read_text() == source


def test_a_generator_that_writes_nothing(smith: Smith, generator: Path, tmp_path: Path) -> None:
    generator.write_text("#!/bin/sh\necho no such target >&2\nexit 3\n")
    generator.chmod(0o755)
    with pytest.raises(P4SmithError, match="no such target"):
        smith.examine(1, FRAMES, tmp_path)


@pytest.mark.parametrize("end", ["kill -ABRT $$", "exit 134"])
def test_a_generator_that_fails_at_one_seed(
    smith: Smith, generator: Path, tmp_path: Path, end: str
) -> None:
    generator.write_text(f"#!/bin/sh\n{end}\n")
    generator.chmod(0o755)
    assert smith.examine(7, FRAMES, tmp_path) == Smithed(7, refusal="P4Smith itself failed")


def test_reasons_have_neither_names_nor_numbers() -> None:
    message = "program.p4:3:7: error: -118 does not fit in bit<8>; expected less than 'limit'"
    assert reason(message) == "N does not fit in TYPE; expected less than '…'"


def test_a_generator_that_always_fails_is_no_success(
    build_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TURNTABLE_BUILD_DIR", str(build_dir))
    outcomes = [Smithed(seed, "P4Smith itself failed") for seed in (1, 2)]
    monkeypatch.setattr(command, "campaign", lambda *_: iter(outcomes))
    assert command.main(["--p4smith", "p4smith"]) == 2
    assert "nothing was examined" in capsys.readouterr().err


def test_refusals_are_counted_by_reason(
    build_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fault = Difference("compiler", "no")
    outcomes = [
        Smithed(7),
        Smithed(9, "a"),
        Smithed(8, "b"),
        Smithed(10, "b"),
        Smithed(11, "", fault),
    ]
    monkeypatch.setenv("TURNTABLE_BUILD_DIR", str(build_dir))
    monkeypatch.setattr(command, "campaign", lambda *_: iter(outcomes))
    assert command.main(["--seed", "7", "--p4smith", "p4smith"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"seed 11: compiler; {build_dir}/fuzz-translator/p4smith-11",
        "5 programs of P4Smith: 1 ran, 3 refused, 1 faults; to go on: SEED=12",
        "     2 b",
        "     1 a",
    ]
