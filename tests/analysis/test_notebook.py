"""Notebooks as a run's directory gets them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from turntable.notebook import write_notebook
from turntable.systems.farreach import ANALYSIS
from turntable_core.errors import TurntableError

from . import recordings

NOTEBOOKS = Path(__file__).resolve().parents[2] / "analysis" / "notebooks"


def test_executed_notebook(tmp_path: Path) -> None:
    run = recordings.copy_run(tmp_path, recordings.ROUNDS)
    page = write_notebook(run)
    html = page.read_text()
    assert (page.parent, page.name) == (run, "notebook.html")
    # Rounds of workload A: 3.4771, 3.6167 and 3.5847 of summary.csv; their mean.
    assert re.search(r"<td>3\.56</td>|<td>3\.559</td>|<td>3\.560</td>", html)
    assert "run 20261121-183502-rounds, profile smoke, fidelity class emulated" in html
    assert html.count("<svg") >= 4  # throughput, latency, a figure of partitions for each cell
    assert not re.search(r"<script|<link|src=\"http", html)
    assert_ran_in_its_directory(run)


def test_executed_notebook_of_value_updates(tmp_path: Path) -> None:
    run = recordings.copy_run(tmp_path, recordings.UPDATES)
    html = write_notebook(run).read_text()
    # Aggregates of summary.csv: 3,252.49 ops/s of FarReach, 1,909.41 of NetCache at u c = 0.241.
    assert "<td>1.703</td>" in html
    assert html.count("<svg") == 4  # the ratios, and partitions of each of the three cells
    assert "synthetic · netcache · 2 servers · updates after 190 µs" in html
    assert_ran_in_its_directory(run)


def test_executed_notebook_of_methods_side_by_side(tmp_path: Path) -> None:
    """One for the experiments that differ in a factor alone."""
    run = recordings.copy_run(tmp_path, recordings.UPDATES)

    def rename(plan: dict) -> None:
        plan["experiment"] = "farreach_exp04_write_ratio"
        plan["turns"] = plan["turns"][:2]
        plan["cells"] = {turn["cell"]: plan["cells"][turn["cell"]] for turn in plan["turns"]}

    recordings.edit_json(run / "plan.json", rename)
    html = write_notebook(run).read_text()
    # Aggregates of summary.csv: 3,252.49 ops/s of FarReach, 1,909.41 of NetCache.
    assert "<td>1.7</td>" in html
    assert html.count("<svg") == 1
    assert_ran_in_its_directory(run)


def test_executed_notebook_of_recoveries(tmp_path: Path) -> None:
    run = recordings.copy_run(tmp_path, recordings.RECOVERY)
    html = write_notebook(run).read_text()
    # (0.276306 + 0.323356) s / 2 of server0.recover.json; 20,000 records in 0.036767 s.
    assert "<td>299.8</td>" in html
    assert "<td>543966.0</td>" in html
    assert_ran_in_its_directory(run)


def test_a_notebook_of_recoveries_without_a_valid_round_says_so(tmp_path: Path) -> None:
    run = recordings.copy_run(tmp_path, recordings.RECOVERY)
    recordings.drop_attempt(run, 1)
    html = write_notebook(run).read_text()
    assert "no valid round: there is nothing to show" in html
    assert "NaN" not in html
    assert "<svg" not in html
    assert_ran_in_its_directory(run)


def test_tutorial_compares_two_runs(tmp_path: Path) -> None:
    first, second = recordings.copy_run(tmp_path), recordings.copy_run(tmp_path, recordings.ROUNDS)
    source = (NOTEBOOKS / "first_experiment.py").read_text()
    for name, run in (("first_run", first), ("second_run", second)):
        source = re.sub(rf"^{name} = None", f"{name} = {str(run)!r}", source, flags=re.MULTILINE)
    notebook = jupytext.reads(source, fmt="py:percent")
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()
    html, _ = HTMLExporter().from_notebook_node(notebook)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
    assert "capacity_ops_per_s 5000 2000" in text  # what differs, as recordings.py says
    # Normalized throughput of workload A: 1 + 4455 / 4999 + 3747 / 5000 + 4361 / 5044 by
    # recordings.py; the mean of 3.4771, 3.6167 and 3.5847 of summary.csv.
    assert "3.505 NaN 1" in text
    assert "3.559" in text
    assert "workloada 1.015" in text


def test_pairing_with_an_ipynb_leaves_the_sources_as_they_are(tmp_path: Path) -> None:
    """What `make lab` does first."""
    copy = shutil.copytree(NOTEBOOKS, tmp_path / "notebooks")
    sources = sorted(copy.glob("**/*.py"))
    command = [sys.executable, "-m", "jupytext", "--quiet", "--sync", *map(str, sources)]
    subprocess.run(command, check=True)
    assert [path.with_suffix(".ipynb").exists() for path in sources] == [True] * len(sources)
    for path in sources:
        assert path.read_text() == (NOTEBOOKS / path.relative_to(copy)).read_text()


def assert_ran_in_its_directory(run: Path) -> None:
    notebook = nbformat.read(run / "notebook.ipynb", as_version=4)
    assert any(cell.source.startswith('run_directory = "."') for cell in notebook.cells)
    errors = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type in ("error", "stream") and output.get("name") != "stdout"
    ]
    assert errors == []


def test_cell_that_fails_writes_nothing(tmp_path: Path) -> None:
    run = recordings.copy_run(tmp_path)
    (tmp_path / "farreach_exp01_throughput.py").write_text(
        '# %% tags=["parameters"]\nrun_directory = None\n\n# %%\nraise ValueError(run_directory)\n'
    )
    with pytest.raises(TurntableError, match=r"a cell failed for .*smoke:[\s\S]*ValueError: \."):
        write_notebook(run, sources=tmp_path)
    assert not (run / "notebook.ipynb").exists()


def test_experiment_without_a_notebook(tmp_path: Path) -> None:
    with pytest.raises(TurntableError, match="farreach_exp01_throughput has no notebook"):
        write_notebook(recordings.copy_run(tmp_path), sources=tmp_path)


@pytest.mark.parametrize(
    "source", sorted(ANALYSIS.notebooks.glob("*.py")), ids=lambda path: path.stem
)
def test_notebooks_are_thin(source: Path) -> None:
    """Logic belongs into the package: at most as many cells as fit one screen of headings."""
    text = source.read_text()
    assert text.count("\n# %%") <= 18
    assert 'tags=["parameters"]' in text
    assert not re.search(r"^(def|class) ", text, flags=re.MULTILINE)
