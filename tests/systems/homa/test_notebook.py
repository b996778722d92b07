"""Homa's notebook against a recorded run."""

from __future__ import annotations

import shutil
from pathlib import Path

from turntable.notebook import write_notebook

from .recorded_run import RECORDED


def test_slowdown(tmp_path: Path) -> None:
    run = shutil.copytree(RECORDED, tmp_path / "run")
    html = write_notebook(run).read_text()
    assert html.count("<svg") == 1
    assert "Basic is at least 8 times Homa" in html
