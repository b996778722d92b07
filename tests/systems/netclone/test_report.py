"""A run of all methods from its raw files to tables, figures and report."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from turntable import summary, table
from turntable.load import load_run
from turntable.report import page
from turntable.results import Run

from .made_run import make_run

DISTRIBUTIONS = ["exp25", "bimodal50"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    levels = {"distribution": DISTRIBUTIONS, "load": [0.3, 0.6, 0.9]}
    return load_run(make_run(tmp_path_factory.mktemp("results"), **levels))


def test_every_cell_is_valid(run: Run) -> None:
    assert len(run.turns) == 2 * 5 * 3
    assert {str(turn.verdict) for turn in run.turns} == {"valid"}


def test_saturated_cells_have_a_state_and_no_latency(run: Run) -> None:
    rows = {(r["method"], r["distribution"], r["load"]): r for r in run.rows}
    assert rows["cclone", "exp25", 0.6]["state"] == "saturated"
    assert rows["cclone", "exp25", 0.6]["shown_p99_us"] is None
    assert rows["cclone", "exp25", 0.3]["state"] == "steady"
    assert "saturated" in table.render(run.cells, 1.5, "results")


def test_the_table_names_peaks(run: Run) -> None:
    text = table.render(run.cells, 1.5, "results")
    assert "Highest delivered throughput, undilated" in text
    assert "4 x 8" in text


def test_columns_are_those_of_the_summary(run: Run) -> None:
    read = list(csv.DictReader(io.StringIO(summary.summary_csv(run).decode())))
    assert len(read) == 30
    row = next(r for r in read if (r["method"], r["load"]) == ("netclone", "0.3"))
    assert row["filter"] == "True"
    assert float(row["p99_us"]) == pytest.approx(float(row["trace_p99_us"]))
    assert float(row["clone_rate"]) == 0.6
    assert summary.cells_csv(run).decode().count("\n") == 31


def test_the_report_has_a_panel_per_distribution_and_the_shape(run: Run) -> None:
    html = page.render(run)
    assert "99th percentile of the latency against load for exp25, bimodal50" in html
    assert "Share of requests that are cloned, against load" in html
    assert "Highest delivered throughput, undilated" in html
    assert "Clones; an empty queue is reported truly" in html
    assert "(2) C-Clone collapses just past half the load" in html


def test_lines_differ_where_servers_do(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path, "racksched", load=[0.5, 0.9]))
    html = page.render(run)
    assert "noclone, unequal workers 8+8+4+4" in html
