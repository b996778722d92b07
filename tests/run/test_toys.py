"""What tests/toys has is known there alone, and where it is shown how to add such a thing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TOYS = sorted(path.name for path in (REPOSITORY / "tests/toys/systems").iterdir() if path.is_dir())
SHARED = (
    "Makefile",
    "src/CMakeLists.txt",
    "core",
    "systems",
    "plugins",
    "analysis",
    "playbooks",
    "roles",
    "inventories",
    "CMakeLists.txt",
    "cmake",
)


OF_SYSTEMS = ("analysis/turntable/systems/",)  # a system has its own words


@pytest.mark.parametrize("toy", TOYS)
def test_no_shared_file_names_a_toy(toy: str) -> None:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *SHARED]
    files = subprocess.run(listing, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    # A shell's command of the same name is followed by what it prints.
    word = re.compile(rf"\b{toy}\b(?! [\w\"'$])", re.IGNORECASE)
    named = [
        name
        for name in files.stdout.splitlines()
        if (REPOSITORY / name).is_file()
        and not name.startswith(OF_SYSTEMS)
        and word.search((REPOSITORY / name).read_text(encoding="utf-8", errors="replace"))
    ]
    assert named == []


def test_toys_are_systems_when_they_are_asked_for() -> None:
    assert _systems({}) == _systems({"TURNTABLE_SYSTEMS": ""})
    assert _systems({"TURNTABLE_SYSTEMS": "tests/toys"}) == sorted({*_systems({}), *TOYS})


def test_what_a_process_starts_elsewhere_knows_them_too(tmp_path: Path) -> None:
    program = (
        "import os, subprocess, sys, turntable_systems; "
        "command = 'from turntable_core import systems; print(*systems.names())'; "
        f"subprocess.run([sys.executable, '-c', command], cwd={str(tmp_path)!r}, check=True)"
    )
    assert set(TOYS) <= set(_printed(program, {"TURNTABLE_SYSTEMS": "tests/toys"}))


def test_a_system_that_is_nowhere_is_looked_for_where_it_says() -> None:
    program = (
        "from turntable_core import systems\n"
        "try:\n    systems.find('nowhere')\n"
        "except Exception as error:\n    print(error)"
    )
    assert "TURNTABLE_SYSTEMS" in _printed(program, {})


def _systems(variables: dict[str, str]) -> list[str]:
    return _printed("from turntable_core import systems; print(*systems.names())", variables)


def _printed(program: str, variables: dict[str, str]) -> list[str]:
    """Words of the output."""
    known = {name: value for name, value in os.environ.items() if name != "TURNTABLE_SYSTEMS"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        env=known | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()
