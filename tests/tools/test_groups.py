"""scripts/pytest-groups: groups of tests side by side, each in its order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SAYS_WHERE = """
import os, pathlib, pytest

def say(mark, number):
    name = pathlib.Path(__file__).stem
    with open(os.environ["SEEN"], "a") as seen:
        seen.write(f"{os.getpid()} {name} {mark} {number}\\n")
    assert (name, mark, number) != ("test_" + os.environ["FAILING"], "unit", 1)

@pytest.mark.parametrize("number", range(3))
def test_unit(number):
    say("unit", number)

@pytest.mark.long
def test_long():
    say("long", 0)

@pytest.mark.e2e
def test_end_to_end():
    say("e2e", 0)
"""
FILES = {
    "units": (
        ("cache/test_cache.py", "run/test_run.py", "systems/test_systems.py"),
        (
            "analysis/test_analysis.py",
            "p4soft/test_p4soft.py",
            "rack/test_rack.py",
            "switch_cli/test_switch_cli.py",
        ),
        ("provision/test_provision.py", "testbed/test_testbed.py", "tools/test_tools.py"),
    ),
    "e2e": (
        ("e2e/test_homa.py", "e2e/test_shadowfax.py", "e2e/test_ycsb.py"),
        (
            "e2e/test_embedded_ssh.py",
            "e2e/test_faults.py",
            "e2e/test_toy_system.py",
            "e2e/test_trace.py",
            "e2e/test_user_with_sudo.py",
        ),
        ("e2e/test_fake_rack.py", "e2e/test_swan.py", "rack/test_rack.py"),
    ),
}


def run(which: str, tests: Path, failing: str) -> subprocess.CompletedProcess[str]:
    for group in FILES[which]:
        for name in group:
            (tests / name).parent.mkdir(exist_ok=True)
            (tests / name).write_text(SAYS_WHERE)
    (tests / "pytest.ini").write_text("[pytest]\nmarkers =\n e2e\n long\n")
    return subprocess.run(
        [sys.executable, REPOSITORY / "scripts/pytest-groups", which, tests],
        # Without options of whoever runs this test: some change what is counted here.
        env=os.environ | {"SEEN": str(tests / "seen"), "FAILING": failing, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("which", "mark", "of_each"), [("units", "unit", 3), ("e2e", "e2e", 1)])
def test_a_group_is_one_process_in_its_order(
    which: str, mark: str, of_each: int, tmp_path: Path
) -> None:
    ended = run(which, tmp_path, failing="none")
    assert ended.returncode == 0
    by_process: dict[str, list[str]] = {}
    for line in (tmp_path / "seen").read_text().splitlines():
        process, test = line.split(" ", 1)
        by_process.setdefault(process, []).append(test)
    expected = [
        [f"{Path(name).stem} {mark} {number}" for name in group for number in range(of_each)]
        for group in FILES[which]
    ]
    assert sorted(by_process.values()) == sorted(expected)


@pytest.mark.parametrize(
    ("failing", "seen"),
    [
        ("rack", ("9 passed", "1 failed, 11 passed", "9 passed")),
        ("testbed", ("9 passed", "12 passed", "1 failed, 8 passed")),
        ("cache", ("1 failed, 8 passed", "12 passed", "9 passed")),
    ],
)
def test_it_fails_when_one_of_them_does(failing: str, seen: Sequence[str], tmp_path: Path) -> None:
    ended = run("units", tmp_path, failing=failing)
    assert ended.returncode == 1
    ends = re.findall(r"=+ (.+?)(?:, \d+ deselected)? in ", ended.stdout)
    assert tuple(ends) == tuple(seen)


def test_which_tests_has_to_be_said() -> None:
    done = subprocess.run(
        [sys.executable, REPOSITORY / "scripts/pytest-groups", "all"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "choose from 'units', 'e2e'" in done.stderr
