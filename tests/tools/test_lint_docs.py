"""scripts/lint_docs.py: which lines are too long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LINT = Path(__file__).resolve().parents[2] / "scripts/lint_docs.py"
WORDS = "ab " * 46 + "a"  # 139 characters


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (WORDS + "b", 0),
        (WORDS + "bc", 1),
        ("    " + WORDS, 1),
        ("| " + WORDS + " |", 0),
        ("https://example.org/" + "x" * 140, 0),
        ("\N{EN DASH} " * 69, 0),  # characters, not bytes
    ],
)
@pytest.mark.parametrize("name", ["README.md", "docs/page.md"])
def test_long_lines(tmp_path: Path, name: str, line: str, status: int) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / name).write_text(f"# Title\n\n{line}\n")
    done = subprocess.run(
        [sys.executable, LINT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    told = f"{name}:3: {len(line)} characters; expected at most 140\n"
    assert done.stdout == (told if status else "")
