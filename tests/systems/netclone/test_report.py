"""A run of all methods from its raw files to tables, figures and report."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from turntable import summary, table
from turntable.load import load_run
from turntable.report import page
from turntable.results import Run, TurnResult
from turntable.systems.netclone import peaks, plot
from turntable.verdict import Verdict

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
    assert {r["credit_delay_us"] for r in read if r["method"] == "laedge"} == {"100.0"}
    assert {r["credit_delay_us"] for r in read if r["method"] != "laedge"} == {""}
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


def test_mixes_of_redis_are_told_apart(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path, "redis", load=[0.5, 0.9]))
    html = page.render(run)
    assert "noclone, scan share 0.01" in html
    assert "noclone, scan share 0.1" in html
    each = [row for row in peaks.peaks(run.cells) if row["method"] == "noclone"]
    loads = {cell.parameters["scan_share"]: [] for cell in run.cells}
    for row in (row for row in run.rows if row["method"] == "noclone"):
        loads[row["scan_share"]].append(row["delivered_rps"])
    assert [row["peak_0"] for row in each] == [max(loads[share]) for share in (0.01, 0.1)]
    assert [row["line"] for row in each] == ["noclone, scan share 0.01", "noclone, scan share 0.1"]


def test_the_only_latencies_are_undilated(run: Run) -> None:
    """The core's table, in the testbed's time, would stand beside the system's own."""
    html = page.render(run)
    assert html.count("Latency of all valid rounds, undilated") == 2  # label and caption
    assert "Latency (µs)" not in html


def test_only_distributions_that_were_measured_have_a_panel(run: Run) -> None:
    measured = [
        cell
        if cell.parameters["distribution"] == "exp25"
        else replace(cell, turns=tuple(map(without_result, cell.turns)))
        for cell in run.cells
    ]
    for figure in (plot.p99_by_load, plot.clones_by_load, plot.paper_scale):
        svg = figure(measured).svg()
        assert "exp25" in svg and "bimodal50" not in svg, figure.__name__
    unmeasured = [cell for cell in measured if cell.parameters["distribution"] == "bimodal50"]
    assert plot.p99_by_load(unmeasured) is plot.clones_by_load(unmeasured) is None
    assert plot.paper_scale(unmeasured) is None


def without_result(turn: TurnResult) -> TurnResult:
    return replace(turn, measurements=(), histograms=(), verdict=Verdict(("missing",)))


def test_one_worker_has_no_true_reports(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path, "minimal"))
    text = table.render(run.cells, 1.5, "results")
    assert "of servers with one worker, which has none besides" in text
