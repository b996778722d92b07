"""`p4soft` and its subcommands."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .conftest import P4SOFT, Command


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command: Command = [*P4SOFT, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


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
