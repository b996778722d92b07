"""scripts/pytest-groups: tests with hosts of their own beside all others, each in its order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SAYS_WHERE = """
import os, pathlib, pytest

@pytest.mark.parametrize("number", range(3))
def test(number):
    name = pathlib.Path(__file__).stem
    with open(os.environ["SEEN"], "a") as seen:
        seen.write(f"{os.getpid()} {name} {number}\\n")
    assert (name, number) != ("test_" + os.environ["FAILING"], 1)
"""


def run(tests: Path, failing: str) -> subprocess.CompletedProcess[str]:
    for directory in ("provision", "rack", "testbed", "cache", "run"):
        (tests / directory).mkdir()
        (tests / directory / f"test_{directory}.py").write_text(SAYS_WHERE)
    (tests / "pytest.ini").write_text("[pytest]\nmarkers = e2e\n")
    return subprocess.run(
        [sys.executable, REPOSITORY / "scripts/pytest-groups", tests],
        env=os.environ | {"SEEN": str(tests / "seen"), "FAILING": failing},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_group_is_one_process_in_its_order(tmp_path: Path) -> None:
    ended = run(tmp_path, failing="none")
    assert ended.returncode == 0
    assert "6 passed" in ended.stdout
    assert "9 passed" in ended.stdout
    by_process: dict[str, list[str]] = {}
    for line in (tmp_path / "seen").read_text().splitlines():
        process, test = line.split(" ", 1)
        by_process.setdefault(process, []).append(test)
    assert sorted(by_process.values()) == [
        [f"test_{name} {number}" for name in names for number in range(3)]
        for names in (("cache", "run"), ("provision", "rack", "testbed"))
    ]


@pytest.mark.parametrize(
    ("failing", "seen"),
    [("rack", ("1 failed, 8 passed", "6 passed")), ("cache", ("1 failed, 5 passed", "9 passed"))],
)
def test_it_fails_when_one_of_them_does(
    failing: str, seen: tuple[str, str], tmp_path: Path
) -> None:
    ended = run(tmp_path, failing=failing)
    assert ended.returncode == 1
    assert all(text in ended.stdout for text in seen)
