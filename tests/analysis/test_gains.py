"""Methods side by side: FarReach's gain in table and report, and the figure of bars."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable import table
from turntable.load import load_run
from turntable.report import render
from turntable.systems.farreach import plot
from turntable.systems.farreach.gains import gains

from . import recordings
from .test_report import Page

# Aggregates of summary.csv, ops/s: FarReach's, and NetCache's with the shorter updates.
FARREACH, NETCACHE = 3252.49, 1909.41


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """FarReach and one cell of NetCache; both were published for these parameters."""
    run = recordings.copy_run(tmp_path, recordings.UPDATES)
    reference = run / "reference.csv"
    reference.write_text(
        "method,metric,value\n"
        "farreach,aggregate_ops_per_s,300\nnetcache,aggregate_ops_per_s,200\n"
        "farreach,normalized_throughput,3.5\n"
    )

    def leave_one(plan: dict) -> None:
        plan["reference"] = str(reference)
        plan["turns"] = plan["turns"][:2]
        plan["cells"] = {turn["cell"]: plan["cells"][turn["cell"]] for turn in plan["turns"]}
        # As since FarReach has parameters that mean nothing to NetCache.
        plan["cells"][plan["turns"][0]["cell"]] |= {"client_copies": False, "snapshot_period_s": 0}

    recordings.edit_json(run / "plan.json", leave_one)
    return run


def test_a_gain_is_of_cells_that_differ_in_their_method_alone(beside: Path) -> None:
    (gain,) = gains(load_run(beside).cells)
    assert gain.cell.parameters["method"] == "netcache"
    assert gain.measured is not None
    assert gain.measured.mean == pytest.approx(FARREACH / NETCACHE, rel=1e-5)
    assert gain.paper == pytest.approx(1.5)
    assert gain.trace == pytest.approx(gain.measured.mean, rel=0.03)


def test_an_invalid_round_is_a_gap(beside: Path) -> None:
    recordings.drop_attempt(beside, 1)
    (gain,) = gains(load_run(beside).cells)
    assert (gain.measured, gain.gap) == (None, "incomplete")
    assert "incomplete" in table.render(load_run(beside).cells, None, "results")


@pytest.mark.parametrize("made", [{"target_share": 0.5}, {"crash": "switch"}])
def test_cells_that_are_not_asked_for_all_they_can_do_have_no_gain(
    beside: Path, made: dict
) -> None:
    def change(plan: dict) -> None:
        for parameters in plan["cells"].values():
            parameters.update(made)

    recordings.edit_json(beside / "plan.json", change)
    cells = load_run(beside).cells
    assert gains(cells) == []
    assert plot.bars(cells) is None


def test_gains_are_in_the_table_and_in_the_report(beside: Path) -> None:
    run = load_run(beside)
    (gain,) = gains(run.cells)
    shown = ["1.50", f"{gain.trace:.2f}", "1.70"]
    lines = table.render(run.cells, None, "results").splitlines()
    (line,) = (line for line in lines if line.split()[-3:] == shown)
    assert line.startswith("synthetic · netcache · 2 servers")
    (row,) = (row for row in Page(run).rows if row[1:4] == shown)
    assert row[0].startswith("synthetic · netcache · 2 servers")


def test_bars_have_the_colours_of_their_methods_and_the_papers_marks(beside: Path) -> None:
    run = load_run(beside)
    drawing = plot.bars(run.cells)
    assert drawing is not None
    normalized, gained = drawing.figure.axes
    heights = {
        bars.get_label(): [bar.get_height() for bar in bars] for bars in normalized.containers
    }
    expected = {
        cell.parameters["method"]: [turn.row["normalized_throughput"]]
        for cell in run.cells
        for turn in cell.turns
    }
    assert heights == {method: pytest.approx(values) for method, values in expected.items()}
    (paper,) = (line for line in normalized.lines if line.get_label() == "paper")
    assert list(paper.get_ydata()) == [3.5]
    assert [bar.get_height() for bars in gained.containers for bar in bars] == pytest.approx(
        [FARREACH / NETCACHE], rel=1e-5
    )
    svg = drawing.svg()
    for colour in ("--blue", "--orange", "--vermilion"):
        assert colour in svg
    assert f"netcache {expected['netcache'][0]:.2f}" in drawing.description
    assert drawing.svg()[:200] in render(run)


def test_bars_of_rounds_have_an_interval(tmp_path: Path) -> None:
    drawing = plot.bars(load_run(recordings.copy_run(tmp_path, recordings.ROUNDS)).cells)
    assert drawing is not None
    (axes,) = drawing.figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["workloada", "workloadc"]
    whiskers = [part for part in axes.containers if type(part).__name__ == "ErrorbarContainer"]
    assert len(whiskers) == 2


@pytest.mark.parametrize("recording", [recordings.RUN, recordings.UPDATES, recordings.RECOVERY])
def test_cells_that_are_not_side_by_side_have_no_bars(tmp_path: Path, recording: str) -> None:
    """One cell; two of the same method and factors; cells whose throughput is no result."""
    assert plot.bars(load_run(recordings.copy_run(tmp_path, recording)).cells) is None
