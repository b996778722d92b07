"""Programs that another generator writes: refused, at fault, or run."""

from __future__ import annotations

from pathlib import Path

import pytest
from packet import compilation

from . import __main__ as command
from .campaign import FRAMES, case_of
from .p4smith import P4SmithError, Smith, reason
from .print_program import source_of


def writing(tmp_path: Path, program: str) -> Path:
    """In place of P4Smith: its last argument is the file to write."""
    (tmp_path / "written.p4").write_text(program)
    script = tmp_path / "p4smith"
    script.write_text(f'#!/bin/sh\nfor last; do :; done\ncp {tmp_path}/written.p4 "$last"\n')
    script.chmod(0o755)
    return script


def test_a_program_that_is_taken_is_run(tmp_path: Path, build_dir: Path) -> None:
    smith = Smith(writing(tmp_path, source_of(case_of(1).program)), build_dir)
    outcome = smith.examine(1, FRAMES, tmp_path)
    assert (outcome.refusal, outcome.fault) == ("", None)


def test_a_refusal_is_counted_by_its_reason(
    tmp_path: Path, build_dir: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    source = source_of(case_of(1).program).replace("Switch(pipe) main;", "Switch(pipe) main")
    monkeypatch.setenv("TURNTABLE_BUILD_DIR", str(build_dir))
    smith = str(writing(tmp_path, source))
    assert command.main(["--hours", "0", "--seed", "7", "--jobs", "1", "--p4smith", smith]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "1 programs of P4Smith: 0 ran, 1 refused, 0 faults; to go on: SEED=8"
    assert second.startswith(("     1 expected ';'", "     1 expected '…'"))


def test_an_exception_of_the_translator_is_a_fault(
    tmp_path: Path, build_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("hdr")

    monkeypatch.setattr(compilation, "translate", broken)
    source = source_of(case_of(1).program)
    outcome = Smith(writing(tmp_path, source), build_dir).examine(3, FRAMES, tmp_path)
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.text) == ("translator", "KeyError: 'hdr'")
    assert (tmp_path / "p4smith-3" / "program.p4").read_text() == source


def test_a_generator_that_writes_nothing(tmp_path: Path, build_dir: Path) -> None:
    script = writing(tmp_path, "")
    script.write_text("#!/bin/sh\necho no such target >&2\nexit 3\n")
    with pytest.raises(P4SmithError, match="no such target"):
        Smith(script, build_dir).examine(1, FRAMES, tmp_path)


def test_reasons_have_neither_names_nor_numbers() -> None:
    message = "program.p4:3:7: error: -118 does not fit in bit<8>; expected less than 'limit'"
    assert reason(message) == "N does not fit in TYPE; expected less than '…'"
