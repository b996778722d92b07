"""Which run an analysis is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turntable.find_run import find_run
from turntable_core.errors import TurntableError


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for path, created in (
        ("farreach_exp01/monday", "2026-11-16T09:00:00+00:00"),
        ("farreach_exp01/a-later-one", "2026-11-17T09:00:00+00:00"),
        ("farreach_exp02/monday", "2026-11-16T12:00:00+00:00"),
    ):
        run = tmp_path / path
        run.mkdir(parents=True)
        (run / "plan.json").write_text("{}")
        (run / "manifest.json").write_text(json.dumps({"created_at": created}))
    (tmp_path / "farreach_exp01" / "no-run").mkdir()
    (tmp_path / "latest").symlink_to("farreach_exp02/monday")
    return tmp_path


def test_newest_by_time_of_planning(results: Path) -> None:
    assert find_run(results) == results / "farreach_exp01" / "a-later-one"
    assert find_run(results, "farreach/exp02") == results / "farreach_exp02" / "monday"


def test_by_name(results: Path) -> None:
    assert find_run(results, "farreach_exp01", "monday") == results / "farreach_exp01" / "monday"
    said = (
        "2 experiments have a run 'monday'; expected farreach_exp01/monday or farreach_exp02/monday"
    )
    with pytest.raises(TurntableError, match=said):
        find_run(results, run="monday")
    for name in ("farreach_exp02/monday", "farreach/exp02/monday"):
        assert find_run(results, run=name) == results / "farreach_exp02" / "monday"


def test_unknown(results: Path) -> None:
    with pytest.raises(TurntableError, match=r"no run 'munday'.*did you mean 'monday'"):
        find_run(results, "farreach_exp01", "munday")
    with pytest.raises(TurntableError, match=r"no run 'munday' of farreach_exp01"):
        find_run(results, run="farreach_exp01/munday")
    with pytest.raises(TurntableError, match="no run of any experiment"):
        find_run(results / "nowhere")
