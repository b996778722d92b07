"""Latency at target throughputs in table, figure and report, from a recorded run."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable import table
from turntable.load import load_run
from turntable.report import render
from turntable.results import EXPERIMENTS, Run
from turntable.systems.farreach import plot
from turntable.systems.farreach.targets import closed, published, targets

from . import recordings
from .test_legends import places


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A busy machine disturbed it: by more than experiments allow."""
    copy = recordings.copy_run(tmp_path, recordings.LATENCY)

    def be_lenient(plan: dict) -> None:
        plan["validity"] |= {"stall_latency_share_max": 0.5, "unsettled_share_max": 0.5}

    recordings.edit_json(copy / "plan.json", be_lenient)
    return load_run(copy)


def test_cells_below_and_beyond_saturation(run: Run) -> None:
    half, beyond = targets(run.cells)
    assert (half.state, beyond.state) == ("steady", "saturated")
    # Half of what two servers of 1,000 ops/s with 0.53 and 0.47 of the requests can do.
    assert half.target_ops_per_s == pytest.approx(0.5 * 1878.7, rel=1e-3)
    assert half.offered_ops_per_s == pytest.approx(half.target_ops_per_s, rel=0.1)
    assert half.wait_us is not None
    assert half.predicted_wait_us == pytest.approx(500)
    # Every latency holds the path and a service time.
    assert half.latency_us["p50"] is not None
    assert half.latency_us["p50"] > 1000
    assert half.path_us is not None
    assert 50 < half.path_us < 1000
    # What depends on how long one measures is not shown.
    assert set(beyond.latency_us.values()) == {None}
    assert beyond.predicted_wait_us is None
    assert beyond.delivered_share == pytest.approx(1 / 1.3, rel=0.05)
    assert len(closed(run.cells)) == 1


def test_an_invalid_cell_is_a_gap(tmp_path: Path) -> None:
    half, _ = targets(load_run(recordings.copy_run(tmp_path, recordings.LATENCY)).cells)
    assert half.gap == "invalid"
    assert half.wait_us is None


def test_published_latencies_have_their_shares() -> None:
    rows = published(EXPERIMENTS / "reference" / "farreach_exp02_latency.csv")
    assert len(rows) == 12
    most = next(r for r in rows if (r.method, r.target_ops_per_s) == ("nocache", 800_000))
    assert most.share == pytest.approx(0.8 / 0.747)
    assert most.latency_us == {"mean": 340, "p50": 81, "p90": 1512, "p95": 2243}
    assert published(None) == []


def test_the_table_has_what_is_predicted_beside(run: Run) -> None:
    text = table.render(run.cells, None, "results")
    assert "Latency from the intended instants" in text
    assert "saturated" in text


def test_the_figure_has_its_legend_above_the_panels(run: Run) -> None:
    drawing = plot.latency_by_target(run.cells)
    assert drawing is not None
    (legend,), axes = places(drawing)
    assert len(axes) == 4
    assert not any(legend.overlaps(place) for place in axes)
    assert plot.latency_by_target(closed(run.cells)) is None


def test_the_report_says_what_kind_of_latencies_these_are(run: Run) -> None:
    page = render(run)
    assert "true latencies" in page
    assert "Published latencies" in page
    assert "Latency of closed loops" in page
