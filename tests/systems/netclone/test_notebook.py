"""NetClone's notebooks against made-up runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable.notebook import write_notebook

from .made_run import make_run

NOTEBOOKS = Path(__file__).resolve().parents[3] / "analysis/notebooks/netclone"


def test_figure_7(tmp_path: Path) -> None:
    html = write_notebook(make_run(tmp_path, distribution=["exp25"], load=[0.3, 0.9])).read_text()
    # p99 and clones of the run, and the paper's own scale beside.
    assert html.count("<svg") == 3
    assert "six servers of 15 workers" in html
    assert "C-Clone collapses just past half the load" in html


def test_the_switch_fails_and_returns(tmp_path: Path) -> None:
    html = write_notebook(make_run(tmp_path, "switch_failure")).read_text()
    assert html.count("<svg") == 1


@pytest.mark.parametrize("source", sorted(NOTEBOOKS.glob("*.py")), ids=lambda path: path.stem)
def test_notebooks_are_thin(source: Path) -> None:
    text = source.read_text()
    assert text.count("\n# %%") <= 18
    assert 'tags=["parameters"]' in text
