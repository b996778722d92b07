"""Which run an analysis is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turntable.__main__ import main
from turntable.find_run import find_run
from turntable_core.errors import TurntableError

from . import recordings


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


def test_commands_take_names_of_runs_and_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = recordings.copy_run(tmp_path / "farreach_exp01_throughput")
    monkeypatch.setattr("turntable.__main__.RESULTS", tmp_path)
    names = (run.name, f"farreach_exp01_throughput/{run.name}", str(run))
    for name in names:
        monkeypatch.setattr("sys.argv", ["turntable", "compare", name, names[0]])
        assert main() == 0
        assert "Nothing differs" in capsys.readouterr().out
    for command in ("summarize", "report"):
        monkeypatch.setattr("sys.argv", ["turntable", command, run.name])
        assert main() == 0
        capsys.readouterr()
    monkeypatch.setattr("sys.argv", ["turntable", "compare", run.name, "20261120-221649-smok"])
    assert main() == 2
    assert f"did you mean '{run.name}'" in capsys.readouterr().err
