"""From a recorded run to its page: numbers checked by hand, gaps, and what cannot be reported."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from turntable.analyze import rebuild, report_line
from turntable.load import load_run
from turntable.report import render
from turntable.results import Run
from turntable.systems.farreach.plot.partitions import expected_loads, measured_loads
from turntable_core.errors import TurntableError

from . import recordings


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return recordings.copy_run(tmp_path)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The page of the unchanged recording, for tests that only read it."""
    return Page(load_run(recordings.copy_run(tmp_path_factory.mktemp("complete"))))


class Page(HTMLParser):
    """Rows of the tables as lists of texts, identifiers, and everything that is read as text."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.html = render(run)
        self.rows: list[list[str]] = []
        self.identifiers: list[str] = []
        self.text = ""
        self._in_cell = self._in_style = False
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_style = tag == "style"
        self.identifiers += [value for name, value in attrs if name == "id" and value]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_style:
            return
        self.text += data
        if self._in_cell:
            self.rows[-1][-1] += data.strip()

    def row(self, first: str, nth: int = 0) -> list[str]:
        return [row for row in self.rows if row and row[0] == first][nth]


DASH = "\N{EN DASH}"
LABEL = "workloada · nocache · 4 servers"


def test_complete_run(complete: Page) -> None:
    # Windows cancel out: 1 + 4455/4999 + 3747/5000 + 4361/5044 = 3.5052; 5000/3747 = 1.3344.
    # The trace says 3.5495 and 1.3065, so -1.2 % and +2.1 %. Nothing was published for 4 servers.
    assert complete.row(LABEL) == [
        LABEL, "3.55", "3.55", DASH, "3.51", "\N{MINUS SIGN}1.2 %",
        "1.312", "1.306", DASH, "1.334", "+2.1 %", "1 of 1",
    ]  # fmt: skip
    # The bottleneck's mean is (4998/1.000275 + 4999/0.999974 + 5000/0.999901 + 5044/1.000100) / 4
    # = 5009.94 ops/s, times 3.50517 = 17,561; the busier server ran at 4999/5000 in iteration 0.
    assert complete.row(LABEL, 1) == [
        LABEL, "0", "4 of 4", "3.51", "1.334", "17,561", "1.000", "0", "valid",
    ]  # fmt: skip
    assert "✓" in complete.html
    # It was recorded before hosts were asked for their statistics.
    assert "Every rule that could be checked held in all 4 iterations." in complete.text
    assert "Not checked: lost capacity" in complete.text
    assert "no data in the raw files of 4 of 4 iterations" in complete.text


def test_mean_latency_is_that_of_queueing(complete: Page) -> None:
    # Sums in ms by partition, iteration 0 to 3: the bottleneck's 127968, 109864, 124832, 114068,
    # with weight 1/4, for 5010.25 operations. Rotated ones scaled with the bottleneck's drift,
    # 5009.94 / (4996.62, 4999.13, 5000.49, 5043.50): 18149 * 1.00216 + 3129 * 1.00189
    # + 15109 * 0.99335, for 4455 * 1.00216 + 3747 * 1.00189 + 4361 * 0.99335 operations.
    # (119183 + 18188 + 3135 + 15009) ms / (5010.25 + 4464.6 + 3754.1 + 4332.0) = 8.856 ms.
    assert complete.row("Queueing latency (µs)")[:2] == ["Queueing latency (µs)", "mean"]
    assert complete.row(LABEL, 2)[1] == "8,856"
    assert "queueing latencies of a saturated closed loop" in complete.text


def test_loads_are_relative_to_the_bottleneck(run: Path) -> None:
    (cell,) = load_run(run).cells
    measured = {partition: load.mean for partition, load in measured_loads(cell).items() if load}
    expected = {0: 4455 / 4999, 1: 3747 / 5000, 2: 4361 / 5044, 3: 1}
    assert measured == pytest.approx(expected)
    shares = (0.2520705, 0.2156425, 0.2505565, 0.2817305)
    assert expected_loads(cell) == pytest.approx(dict(enumerate(s / shares[3] for s in shares)))


def test_page_says_where_it_comes_from(complete: Page) -> None:
    for text in ("d31630483817", "6829738de52d", "AMD EPYC", recordings.RUN, "capacity_ops_per_s"):
        assert text in complete.text
    stamp = f"run {recordings.RUN}  ·  n = 1 round, no interval  ·  fidelity class emulated"
    assert complete.text.count(stamp) >= 3  # throughput, latency, partitions
    assert "(not a rack's)" in complete.text


def test_with_a_cache_clients_may_count_more_than_a_server_can_serve(
    tmp_path: Path, complete: Page
) -> None:
    beside_hits = "capacity of a server, without the switch's hits"
    assert beside_hits not in complete.text
    assert beside_hits in Page(load_run(recordings.copy_run(tmp_path, recordings.RECOVERY))).text


def test_parameters_are_shown_as_experiments_write_them(run: Path) -> None:
    recordings.edit_json(
        run / "plan.json", lambda plan: plan["cells"][recordings.CELL].update(client_copies=True)
    )
    assert Page(load_run(run)).row("client_copies") == ["client_copies", "true"]


def test_page_needs_no_other_file(complete: Page) -> None:
    assert not re.findall(
        r"<(?:link|script|img|iframe|object)|@import|src=|https?://", complete.html
    )
    targets = re.findall(r'(?:xlink:href="|url\()([^")]+)', complete.html)
    assert targets
    assert {target.lstrip("#") for target in targets} <= set(complete.identifiers)
    assert len(complete.identifiers) == len(set(complete.identifiers))


def test_same_files_give_the_same_page(run: Path) -> None:
    rebuild(run)
    first = (run / "report.html").read_bytes()
    rebuild(run)
    assert (run / "report.html").read_bytes() == first


def test_missing_iteration_is_a_gap_and_no_zero(run: Path) -> None:
    recordings.drop_attempt(run, 2)
    loaded = load_run(run)
    loads = measured_loads(loaded.cells[0])
    assert loads[1] is None
    assert loads[0].mean == pytest.approx(4455 / 4999)
    page = Page(loaded)
    row = page.row(LABEL)
    assert (row[4], row[9], row[-1]) == ("incomplete", "incomplete", "0 of 1")
    assert page.row(LABEL, 1)[2:6] == ["3 of 4", DASH, DASH, DASH]
    assert "1 of 4 iterations are missing" in page.text
    assert "No round is valid" in page.text
    assert "missing" in page.text


def test_invalid_round_is_a_gap_in_results_and_shown_for_diagnosis(run: Path) -> None:
    # 5000 / 6250 = 0.8 of the capacity that was asked for.
    recordings.set_capacity(run, 6250)
    page = Page(load_run(run))
    assert page.row(LABEL)[4] == "invalid"
    # Iteration 0 served 4999: 0.79984 of 6250.
    assert page.row(LABEL, 1)[3:] == ["3.51", "1.334", "17,561", "0.800", "0", "invalid"]
    assert "the servers were not the bottleneck" in page.text
    assert '<tr class="void">' in page.html


def test_emulated_run_without_capacity_has_no_valid_band(run: Path) -> None:
    recordings.set_capacity(run, 0)
    page = Page(load_run(run))
    assert "Busy share of the busier server" in page.text
    assert "valid: 0.9" not in page.text


def test_rounds_are_a_mean_with_interval(run: Path) -> None:
    # 500 of 5000 less: 3.50517 and 3.40517, mean 3.45517. Half-width with t(1) = 12.706:
    # 12.706 * (0.1 / sqrt 2) / sqrt 2 = 0.6353.
    recordings.add_round(run, fewer=500)
    page = Page(load_run(run))
    assert page.row(LABEL)[4] == "3.46 ± 0.64"
    assert page.row(LABEL)[-1] == "2 of 2"
    assert "n = 2 rounds, mean with 95 % interval (t-distribution)" in page.text
    # Percentiles come from one histogram of all rounds: no mean of theirs, no interval.
    assert all(" ± " not in text for text in page.row(LABEL, 3)[2:])
    assert " ± " in page.row(LABEL, 3)[1]


def test_only_valid_rounds_count(run: Path) -> None:
    recordings.add_round(run, fewer=500)
    lines = recordings.journal(run)
    recordings.write_journal(run, lines[:-1])
    page = Page(load_run(run))
    assert page.row(LABEL)[4] == "3.51"
    assert "n = 1 of 2 rounds (the valid ones), no interval" in page.text
    assert "Invalid in part" in page.text


def test_rounds_that_were_not_begun_have_one_line_for_all_of_them(run: Path) -> None:
    recordings.add_round(run, fewer=500)
    lines = [line for line in recordings.journal(run) if line["round"] == 0]
    recordings.write_journal(run, lines)
    page = Page(load_run(run))
    assert "1 of 2 rounds have not been measured: the run has not ended" in page.text
    assert "iterations are missing" not in page.text


def test_empty_run_is_an_error_and_writes_nothing(run: Path) -> None:
    (run / "journal.ndjson").unlink()
    with pytest.raises(TurntableError, match=r"nothing has been measured.*-e run="):
        rebuild(run)
    assert not (run / "summary.csv").exists()
    assert not (run / "report.html").exists()
    assert "No report.html: " in report_line(run)


def test_torn_journal_line_is_ignored_and_said(run: Path) -> None:
    data = (run / "journal.ndjson").read_bytes()
    (run / "journal.ndjson").write_bytes(data[:-200])
    page = Page(load_run(run))
    assert "ends in a torn line" in page.text
    assert "1 of 4 iterations are missing" in page.text


def test_failed_attempts_are_listed_and_escaped(run: Path) -> None:
    for iteration in range(4):
        recordings.fail_attempt(run, iteration, "no answer from <client0>")
    page = Page(load_run(run))
    assert page.row(LABEL, 5)[1:] == ["0", "3", "1", "timeout", "no answer from <client0>"]
    assert "4 of 4 iterations are missing" in page.text
    assert "<client0>" not in page.html


def test_manifest_of_another_version_leaves_facts_out(run: Path) -> None:
    (run / "manifest.json").write_text('{"fidelity_class": "hardware"}')
    page = Page(load_run(run))
    assert "inventory digest" not in page.text
    assert "(not a rack's)" not in page.text


def test_colours_follow_the_scheme_of_the_screen(run: Path) -> None:
    recordings.drop_attempt(run, 2)  # with a hatched gap
    page = Page(load_run(run))
    svg = "".join(re.findall(r"<svg.*?</svg>", page.html, flags=re.DOTALL))
    assert len(re.findall(r"var\(--\w+, #[0-9a-f]{6}\)", svg)) > 50
    assert re.findall(r"[^, ] ?#[0-9a-f]{6}\b", re.sub(r"var\([^)]*\)", "", svg)) == []


def test_many_cells(tmp_path: Path) -> None:
    """Two workloads, three rounds: the mean of what summary.csv says of the rounds."""
    page = Page(load_run(recordings.copy_run(tmp_path, recordings.ROUNDS)))
    label = "workloada · nocache · 4 servers"
    assert page.row(label)[4] == "3.56 ± 0.18"
    assert page.row(label)[-1] == "3 of 3"
    assert [page.row(label, nth)[1] for nth in (1, 2, 3)] == ["0", "1", "2"]
    assert page.row("workloadc · nocache · 4 servers")[-1] == "3 of 3"
    assert len(page.html) < 2_000_000


def test_cell_that_was_not_reached(tmp_path: Path) -> None:
    run = recordings.copy_run(tmp_path, recordings.ROUNDS)
    recordings.write_journal(run, recordings.journal(run)[:12])  # workload A only
    page = Page(load_run(run))
    assert page.row("workloadc · nocache · 4 servers")[4] == "not measured"
    assert "Not measured." in page.text
    assert page.row("workloada · nocache · 4 servers")[-1] == "3 of 3"
