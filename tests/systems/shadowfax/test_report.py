"""A run from its raw files to tables, figures, report and notebook."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from turntable import summary, table
from turntable.load import load_run
from turntable.notebook import write_notebook
from turntable.report import page
from turntable.results import Run
from turntable.systems.shadowfax import plot

from .made_run import make_run

SIZES = [1, 59, 1926]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return load_run(make_run(tmp_path_factory.mktemp("results"), batch_operations=SIZES))


def test_every_round_is_valid(run: Run) -> None:
    assert {str(turn.verdict) for turn in run.turns} == {"valid"}
    assert len(run.cells) == len(SIZES)


def test_rows_have_what_was_measured(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(summary.summary_csv(run).decode())))
    by_size = {int(row["batch_operations"]): row for row in rows}
    # A batch takes 20 + 0.2 x 1926 = 405.2 us.
    assert float(by_size[1926]["aggregate_ops_per_s"]) == pytest.approx(1926e6 / 405.2, rel=1e-3)
    assert float(by_size[1]["consistency"]) == pytest.approx(1, rel=1e-3)


def test_the_table_says_what_a_round_trip_is(run: Run) -> None:
    text = table.render(run.cells, 1.5, "results")
    assert "Little" in text
    assert "Round trips are of full pipelines" in text


def test_figures_are_of_factors_that_vary(run: Run, tmp_path: Path) -> None:
    assert plot.by_batch(run.cells) is not None
    assert plot.by_memory(run.cells) is None
    shares = load_run(make_run(tmp_path, "memory", memory_share=[0.5, 2]))
    assert plot.by_batch(shares.cells) is None
    assert plot.by_memory(shares.cells) is not None


def test_stores_are_beside_each_other(run: Run, tmp_path: Path) -> None:
    assert plot.beside(run.cells) is None
    stores = load_run(make_run(tmp_path, "beside", batch_operations=[1, 1926]))
    assert {str(turn.verdict) for turn in stores.turns} == {"valid"}
    drawn = plot.beside(stores.cells)
    assert drawn is not None
    for words in ("Additions", "Reads", "Shadowfax", "memcached", "Redis", "1,926"):
        assert f">{words}<" in drawn.svg()
    html = page.render(stores)
    assert "at equal batches and pipelines" in html
    rows = list(csv.DictReader(io.StringIO(summary.summary_csv(stores).decode())))
    versions = {row["store"]: row["store_version"] for row in rows}
    assert versions == {"shadowfax": "", "memcached": "1.6.18", "redis": "1.6.18"}


def test_fills_by_several_batches(run: Run, tmp_path: Path) -> None:
    assert plot.fill(run.cells) is None
    fills = load_run(make_run(tmp_path, "fill"))
    drawn = plot.fill(fills.cells)
    assert drawn is not None
    assert "batches of 4,096 bytes" in drawn.svg()


def test_the_report_has_the_figure(run: Run) -> None:
    html = page.render(run)
    assert "Round trip of full pipelines" in html


def test_the_notebook(tmp_path: Path) -> None:
    html = write_notebook(make_run(tmp_path, batch_operations=SIZES)).read_text()
    assert html.count("<svg") == 1
