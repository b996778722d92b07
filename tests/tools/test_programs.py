"""The built programs as a person calls them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build")) / "bin"


def is_script(path: Path) -> bool:
    """swan-train: its interpreter's words are its own."""
    with path.open("rb") as file:
        return file.read(2) == b"#!"


PROGRAMS = (
    sorted(path.name for path in BIN.iterdir() if not is_script(path)) if BIN.is_dir() else []
)


def call(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([BIN / program, *arguments], capture_output=True, text=True, check=False)


def first_words(help_text: str) -> list[str]:
    """Of each option's description: what stands right of the column where that of --help begins."""
    column = next(
        line.index("Print this help") for line in help_text.splitlines() if "--help " in line
    )
    words: list[str] = []
    for line in help_text.splitlines():
        is_option = line.startswith("  -")
        if is_option and line[column - 1 : column] == " ":
            words.append(line[column:].split(" ")[0])
        elif is_option:
            words.append("")  # in the next line
        elif words and not words[-1] and line.startswith(" " * column):
            words[-1] = line.strip().split(" ")[0]
    return [word for word in words if word]


def test_there_are_programs() -> None:
    assert "kvserver" in PROGRAMS


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_wrong_option_is_refused_in_the_programs_name(program: str) -> None:
    done = call(program, "--no-such-option")
    assert done.returncode != 0
    assert done.stderr.startswith(f"{program}: "), done.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_descriptions_of_options_begin_alike(program: str) -> None:
    words = first_words(call(program, "--help").stdout)
    assert words[0] == "Print"
    assert [word for word in words if re.fullmatch(r"[a-z]+[,;:.]?", word)] == []


@pytest.mark.parametrize("program", ["cache-controller", "switch-agent", "kvserver", "kvclient"])
def test_help_says_what_the_secret_is(program: str) -> None:
    assert "32 to 4096 bytes, mode 0600" in call(program, "--help").stdout
