"""NetCache's value updates in a recorded run: measured and modelled, in summary and report."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable import table
from turntable.load import load_run
from turntable.report import render
from turntable.systems.farreach.updates import comparisons
from turntable_core import labels

from . import recordings
from .test_report import Page

# Sum of round trips / acknowledged updates of all servers and iterations, by hand from raw files.
ROUND_TRIPS_US = (713_128_830 / 2963 / 1000, 3_492_949_493 / 2934 / 1000)


@pytest.fixture(scope="module")
def updates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recordings.copy_run(tmp_path_factory.mktemp("updates"), recordings.UPDATES)


def test_rows_say_how_long_updates_took_and_what_follows(updates: Path) -> None:
    farreach, *netcache = load_run(updates).rows
    assert farreach["update_round_trip_us"] is None
    assert [row["update_round_trip_us"] for row in netcache] == pytest.approx(ROUND_TRIPS_US)
    for row in netcache:
        # What the model makes of these traces; the bottleneck has 2,000 operations in a window.
        assert row["aggregate_ops_per_s"] == pytest.approx(
            row["trace_aggregate_ops_per_s"], rel=0.02
        )
    slow, slower = (row["trace_aggregate_ops_per_s"] for row in netcache)
    assert slower < slow
    assert farreach["trace_aggregate_ops_per_s"] == pytest.approx(3286.6, abs=0.1)


def test_the_table_tells_cells_apart_by_their_delays(updates: Path) -> None:
    run = load_run(updates)
    lines = table.render(run.cells, None, "results").splitlines()
    assert lines[1] == "All cells: workload synthetic, servers 2"
    names = [line.split("  ")[0] for line in lines[5:8]]
    assert names == [
        "farreach -",
        "netcache updates after 190 µs",
        "netcache updates after 1140 µs",
    ]
    assert labels.of_turn(run.plan, run.turns[1].turn) == (
        "synthetic netcache 2, updates after 190 µs"
    )
    assert max(map(len, lines)) <= table.WIDTH


def test_cells_of_both_methods_are_compared(updates: Path) -> None:
    rows = comparisons(load_run(updates).cells)
    assert [row.in_services for row in rows] == pytest.approx([u / 1000 for u in ROUND_TRIPS_US])
    # 3,252 of FarReach by 1,909 and 1,892 of NetCache.
    assert [row.ratio for row in rows] == pytest.approx([1.703, 1.719], abs=0.002)
    assert all(row.ratio == pytest.approx(row.model_ratio, rel=0.03) for row in rows)


def test_without_farreach_there_is_no_ratio(updates: Path) -> None:
    cells = [c for c in load_run(updates).cells if c.parameters["method"] == "netcache"]
    assert [(row.ratio, row.gap) for row in comparisons(cells)] == [(None, None)] * 2


def test_the_report_has_a_table_and_a_figure(updates: Path) -> None:
    page = Page(load_run(updates))
    assert ["synthetic", "1,191", "1.19"] in [row[:3] for row in page.rows]
    assert "in service times" in page.text


def test_other_reports_have_none(tmp_path: Path) -> None:
    assert "value updates" not in render(load_run(recordings.copy_run(tmp_path)))
