"""playbooks/analyze.yml as a person calls it. It touches no testbed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import artifact_files, recordings

REPOSITORY = Path(__file__).resolve().parents[2]


def analyze(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    playbook = Path(sys.executable).with_name("ansible-playbook")
    return subprocess.run(
        [playbook, "playbooks/analyze.yml", *arguments],
        cwd=REPOSITORY,
        env=os.environ | {"LC_ALL": "C.UTF-8"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return recordings.copy_run(tmp_path / "results" / "farreach_exp01_throughput")


def test_newest_run_also_when_it_is_invalid(run: Path) -> None:
    recordings.drop_attempt(run, 2)
    done = analyze("-e", f"turntable_results_dir={run.parents[1]}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Report: {run}/report.html" in done.stdout
    assert (run / "summary.csv").exists()
    assert "1 of 4 iterations are missing" in (run / "report.html").read_text()


def test_check_mode_writes_nothing(run: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in run.rglob("*"))
    done = analyze("-e", f"turntable_results_dir={run.parents[1]}", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"report of {run} would be made again" in done.stdout
    assert sorted((path, path.stat().st_mtime_ns) for path in run.rglob("*")) == before


def test_broken_inventory_and_notebook(run: Path, tmp_path: Path) -> None:
    inventory = tmp_path / "broken.yml"
    inventory.write_text("all: [1")
    broken = {"ANSIBLE_INVENTORY": str(inventory)}
    assert analyze("-e", f"run_dir={run}", **broken).returncode != 0
    done = analyze("-i", "localhost,", "-e", f"run_dir={run}", "-e", "notebook=true", **broken)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Notebook: {run}/notebook.html" in done.stdout
    assert (run / "notebook.ipynb").exists()


def test_empty_run_fails_in_words(run: Path) -> None:
    (run / "journal.ndjson").write_text("")
    done = analyze("-e", f"run_dir={run}")
    assert done.returncode != 0
    assert "nothing has been measured" in done.stdout + done.stderr


def test_import_of_old_results(tmp_path: Path) -> None:
    """The directory's name may have spaces. A second import takes another name."""
    old, results = tmp_path / "old results", tmp_path / "results"
    first, _ = artifact_files.write_rotation(old)
    given = ("-i", "localhost,", "-e", f"turntable_results_dir={results}")
    importing = (*given, "-e", f"import='{old}'", "-e", "run=rack")
    tried = analyze(*importing, "--check")
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert f"{results}/farreach_exp01_throughput/rack would be made of {old}" in tried.stdout
    assert not results.exists()
    done = analyze(*importing)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Report: {results}/farreach_exp01_throughput/rack/report.html" in done.stdout
    first.write_text(
        first.read_text().replace('"executionMillis": 10000', '"executionMillis": 0', 1)
    )
    refused = analyze(*given, "-e", f"import='{old}'", "-e", "run=again")
    assert refused.returncode != 0
    said = refused.stdout + refused.stderr
    assert f"{first}:1: server-3, executionMillis: 0 is not accepted; expected a whole" in said
    assert not list(results.glob("*/again"))
