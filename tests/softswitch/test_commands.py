"""`p4soft` and its subcommands."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from packet.live_switch import DEADLINE_S

from .conftest import P4SOFT, REPOSITORY, Command

SOURCES = REPOSITORY / "src"


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command: Command = [*P4SOFT, *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_a_file_alone_is_translated_as_by_its_subcommand(source: Path, tmp_path: Path) -> None:
    include = ["-I", source.parent / "include", "--output"]
    assert run("translate", source, *include, tmp_path / "a").returncode == 0
    assert run(source, *include, tmp_path / "b").returncode == 0
    names = ["forward.bfrt.json", "forward.cpp", "forward.p4info.txtpb"]
    for directory in ("a", "b"):
        assert sorted(path.name for path in (tmp_path / directory).iterdir()) == names
    for name in names:
        assert (tmp_path / "a" / name).read_text() == (tmp_path / "b" / name).read_text()


def test_without_a_word_it_says_what_there_is() -> None:
    asked, bare = run("--help"), run()
    assert (asked.returncode, bare.returncode) == (0, 2)
    assert asked.stdout == bare.stderr
    for command in ("run", "translate", "constants"):
        assert f"\n  p4soft {command} " in asked.stdout
        assert run(command, "--help").stdout.startswith(f"usage: p4soft {command} ")


def test_an_unknown_command_is_told_with_those_that_there_are() -> None:
    done = run("rnu", "forward.p4", "--port", "1=veth1")
    assert done.stderr == (
        "p4soft: there is no command rnu; expected one of run, compile, translate, constants; did "
        "you mean p4soft run?\n"
    )
    assert (done.returncode, done.stdout) == (2, "")


def test_a_file_that_is_missing_is_no_unknown_command() -> None:
    done = run("rnu.p4", "--output", "out")
    assert "there is no file rnu.p4; expected a program's top file" in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("command", ["run", "compile", "translate", "constants"])
def test_ctrl_c_at_the_start_ends_it_without_a_traceback(tmp_path: Path, command: str) -> None:
    """While modules are imported: the first that all commands need interrupts."""
    (tmp_path / "argparse.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)")
    done = run(command, "forward.p4", PYTHONPATH=f"{tmp_path}:{SOURCES}")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("command", ["run", "compile", "translate", "constants"])
def test_ctrl_c_while_a_program_is_read(tmp_path: Path, command: str) -> None:
    os.mkfifo(program := tmp_path / "forward.p4")
    options: dict[str, Command] = {"run": ["--port", "1=lo"], "constants": ["--namespace", "n"]}
    words = options.get(command, [])
    if command != "run":
        words = [*words, "--output", tmp_path / "out"]
    process = subprocess.Popen(
        [*P4SOFT, command, program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with program.open("w"):  # it has opened the other end, and waits
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, said) == (130, (b"", b""))


@pytest.mark.parametrize("command", ["compile", "translate", "constants"])
def test_what_is_missing_is_told_with_the_help_there_is(source: Path, command: str) -> None:
    done = run(command, source)
    assert "error: the following arguments are required: --" in done.stderr
    assert done.stderr.endswith(f"output; p4soft {command} --help says what there is\n")
    assert done.returncode == 2
