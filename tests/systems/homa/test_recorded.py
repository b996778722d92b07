"""A recorded run, from its raw files to tables, figure and report."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from turntable import summary, table
from turntable.load import load_run
from turntable.measurement import Measurement
from turntable.report import page
from turntable.results import Run
from turntable.systems.homa import ANALYSIS, tables
from turntable.systems.homa.summary import OF_TENTHS

from .recorded_run import RECORDED


@pytest.fixture(scope="module")
def run() -> Run:
    return load_run(RECORDED)


@pytest.fixture(scope="module")
def by_method(run: Run) -> dict[str, Measurement]:
    return {turn.parameters["method"]: turn.measurements[0] for turn in run.turns}


def clients(run: Run, method: str) -> Iterator[dict[str, Any]]:
    """What the clients answered when it was over."""
    (turn,) = (turn for turn in run.turns if turn.parameters["method"] == method)
    for file in sorted((RECORDED / "raw" / turn.turn.cell.id).glob("r0/i0/a1/client*.json")):
        document = json.loads(file.read_text())
        if document.get("phase") == "collect":
            yield from (
                answer["result"]
                for answer in document["answers"]
                if (answer["node"], answer["command"]) == ("msgbench-client", "stats")
            )


def test_every_cell_is_valid_and_every_rule_checked(run: Run) -> None:
    assert [str(turn.verdict) for turn in run.turns] == ["valid"] * 2
    assert [turn.verdict.not_checked_text for turn in run.turns] == [""] * 2


def test_all_transports_were_offered_the_planned_calls(
    run: Run, by_method: dict[str, Measurement]
) -> None:
    planned = {turn.prediction.calls for turn in run.turns}
    assert {m.clients.calls for m in by_method.values()} == planned
    assert {m.clients.answered for m in by_method.values()} == planned


def test_percentiles_are_those_of_the_nodes_histograms(run: Run) -> None:
    """Of the smallest tenth: hundredths 0 to 9 of all clients, counted here by another library."""
    for turn in run.turns:
        merged = HdrHistogram(1, 100_000_000, 3)
        for client in clients(run, turn.parameters["method"]):
            for row in client["percentiles"][:10]:
                merged.add(HdrHistogram.decode(row["slowdown_1000"]))
        expected = merged.get_value_at_percentile(99) / 1000
        assert turn.row["p99_tenth_1"] == pytest.approx(expected, rel=2e-3)


def test_delivered_is_what_the_seconds_say(run: Run) -> None:
    for turn in run.turns:
        found = list(clients(run, turn.parameters["method"]))
        answered = sum(row["answered_bytes"] for client in found for row in client["seconds"])
        seconds = turn.measurements[0].seconds
        mbps = answered * 8e-6 / seconds / len(found)
        assert turn.row["delivered_mbps"] == pytest.approx(mbps, rel=0.01)


def test_columns_are_those_of_the_summary(run: Run) -> None:
    read = csv.DictReader(io.StringIO(summary.summary_csv(run).decode()))
    rows = {row["method"]: row for row in read}
    # The reference's §8: W3 at 80 %, 5 and 50 % of the messages.
    assert (rows["homa-p8"]["paper_p99_at_5"], rows["basic"]["paper_p99_at_50"]) == ("3.4", "42.0")
    assert rows["homa-p8"]["cutoffs"] == "469+5521+15267"
    assert rows["basic"]["dilation"] == "500.0"
    assert summary.cells_csv(run).decode().count("\n") == 3


def test_the_table_has_simulation_and_paper_beside(run: Run) -> None:
    text = table.render(run.cells, 1.5, "results")
    assert "p99 slowdown by tenth of the messages" in text
    assert [word for word in ("measured", "predicted", "paper") if word not in text] == []


def test_the_papers_value_at_95_percent_is_not_beside_the_largest_tenth(run: Run) -> None:
    """That tenth's p99 is that of its largest messages, which are 100 times those at 95 %."""
    (by_tenth,) = tables.slowdown_table(run.cells)
    paper = [row for row in by_tenth.rows if row["kind"] == "paper"]
    assert len(paper) == 2
    found = [[name for name in OF_TENTHS if row[name] is not None] for row in paper]
    assert found == [[f"p99_tenth_{tenth}" for tenth in (1, 2, 5, 8)]] * 2
    assert "5, 20, 50 and 80 %" in by_tenth.title
    assert run.cells[0].paper["p99_slowdown_at_95"] is not None  # it stays in the figure


def test_the_table_says_what_an_emulated_testbeds_numbers_are_not(run: Run) -> None:
    """As the report does, in the system's own words."""
    text = " ".join(table.render(run.cells, 1.5, "results").split())
    assert f"Emulated testbed. {' '.join(ANALYSIS.emulated_note.split())}" in text
    assert "ops/s" not in text


def test_one_word_for_what_is_predicted(run: Run) -> None:
    text = table.render(run.cells, 1.5, "results")
    assert "predicted" in text
    assert [word for word in ("pred.", "simulated") if word in text] == []


def test_the_report_shows_the_figure_and_the_shape(run: Run) -> None:
    html = page.render(run)
    assert "between two marks are 10 % of the messages" in html
    assert "Basic is at least 8 times" in html
