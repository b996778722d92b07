"""scripts/lint_vocabulary.py: which words of systems it finds, and where."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LINT = Path(__file__).resolve().parents[2] / "scripts/lint_vocabulary.py"


def said(directory: Path, file: str, line: str) -> list[str]:
    """Of a repository with this one file, whose second line it is."""
    subprocess.run(["git", "init", "--quiet", directory], check=True)
    (directory / file).parent.mkdir(parents=True, exist_ok=True)
    (directory / file).write_text(f"first\n{line}\n")
    done = subprocess.run(
        [sys.executable, LINT], cwd=directory, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1 if done.stdout else 0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('names = ["kvserver"]', "kvserver"),
        ("# The rotated one is asked again.", "rotate"),
        ("def workload_of(parameters):", "workload"),
        ("class WorkloadAnalyzer:", "Workload"),
        ("    busiest = BOTTLENECK", "BOTTLENECK"),
        ("partitions = (1, 2)", "partition"),
        ("a write-back cache", "write-back"),
        ("WRITE_THROUGH = ()", "WRITE_THROUGH"),
        ("# as Homa does", "Homa"),
    ],
)
def test_a_planted_word_is_found(tmp_path: Path, line: str, word: str) -> None:
    (problem,) = said(tmp_path, "core/turntable_core/estimate.py", line)
    assert problem.startswith(f"core/turntable_core/estimate.py:2: {word!r} is a word of some")


@pytest.mark.parametrize(
    "line",
    [
        'name, _, rest = text.partition(":")',
        'text.rpartition("@")',
        "# of a home",
        "a new iteration",
    ],
)
def test_other_words_are_not(tmp_path: Path, line: str) -> None:
    assert said(tmp_path, "core/turntable_core/estimate.py", line) == []


@pytest.mark.parametrize(
    ("file", "problems"),
    [
        ("core/turntable_inventory/rules.py", 1),
        ("core/turntable_core/experiment.schema.json", 1),
        ("plugins/action/plan_run.py", 1),
        ("playbooks/site.yml", 1),
        ("playbooks/tasks/run.yml", 1),
        ("analysis/turntable/load.py", 1),
        ("playbooks/farreach/tasks/start.yml", 0),
        ("analysis/turntable/systems/farreach/load.py", 0),
        ("systems/turntable_systems/farreach/system.py", 0),
        ("docs/kvcache.md", 0),
    ],
)
def test_only_what_all_systems_share_is_searched(tmp_path: Path, file: str, problems: int) -> None:
    assert len(said(tmp_path, file, "rotation")) == problems
