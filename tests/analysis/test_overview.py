"""The report over the runs of one name, and what it says of published numbers."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from turntable.load import load_run
from turntable.overview import series_named, write_overview
from turntable.overview.published import Statement, statements
from turntable.results import Run
from turntable_core.errors import TurntableError
from turntable_core.series import Series, Step

from . import recordings

NAME = "night"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two experiments: one valid with two workloads, one with a gap."""
    for experiment, recorded in (("one", recordings.ROUNDS), ("two", recordings.RUN)):
        run = Path(
            shutil.copytree(
                recordings.RECORDED / recorded, tmp_path / f"farreach_{experiment}" / NAME
            )
        )
        recordings.edit_json(
            run / "plan.json", lambda plan, e=experiment: plan.update(title=f"T {e}")
        )
    recordings.drop_attempt(run, 2)
    return tmp_path


def begun(results: Path, *experiments: str) -> Series:
    series = Series(results / "farreach_all" / NAME)
    steps = [Step(f"farreach/{name}", f"T {name}") for name in experiments]
    series.begin("farreach/all", "All of them", steps, {})
    return series


def page_of(series: Series) -> str:
    return (series.directory / "overview.html").read_text(encoding="utf-8")


def test_experiments_in_the_playbooks_order_with_their_states(results: Path) -> None:
    series = begun(results, "two", "one", "three")
    series.end_step("farreach/three", "no such testbed")
    written = write_overview(series)
    assert written.failed == ["farreach/three: failed (no such testbed)"]
    assert written.invalid == [
        "farreach/two: incomplete (0 of 1 rounds valid, 1 iterations missing)"
    ]
    page = page_of(series)
    gallery = page.partition("<h2>Gallery</h2>")[2]
    assert gallery.index("T two") < gallery.index("T one") < gallery.index("T three")
    assert '<a href="../../farreach_one/night/report.html">' in page
    assert "2 of 3 experiments not valid" in page
    assert "T three:</b> failed: no such testbed" in page


def test_a_failure_that_was_made_up_for_is_none(results: Path) -> None:
    series = begun(results, "one")
    series.end_step("farreach/one", "killed")
    assert write_overview(series).failed == []
    series.end_step("farreach/one", None)
    assert write_overview(series).failed == []


def test_a_step_that_is_no_run_says_for_itself(results: Path) -> None:
    series = Series(results / "farreach_all" / NAME)
    step = Step("farreach/ten", "Counted", tasks="tasks.yml", note="no table was found")
    series.begin("farreach/all", "All of them", [step], {})
    assert write_overview(series).failed == ["farreach/ten: not begun"]
    directory = results / "farreach_ten" / NAME
    directory.mkdir(parents=True)
    (directory / "summary.csv").write_text("method,verdict\none,valid\n")
    written = write_overview(series)
    assert written.failed == written.invalid == []
    assert "Counted: not comparable: no table was found" in written.text


def test_the_gallery_has_the_figures_of_the_reports_and_no_identifier_twice(results: Path) -> None:
    series = begun(results, "one", "two")
    write_overview(series)
    page = page_of(series)
    report = (results / f"farreach_one/{NAME}/report.html").read_text(encoding="utf-8")
    labels = re.findall(r'aria-label="([^"]+)"', report.partition("How the measurement went")[0])
    drawn = [label for label in labels if f'role="img" aria-label="{label}"' in report]
    assert drawn
    assert all(label in page for label in drawn)
    identifiers = re.findall(r' id="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', page))
    assert used <= set(identifiers)


def test_useful_time_is_windows_by_plays(results: Path) -> None:
    """ROUNDS: 24 iterations of 0.6 s."""
    series = begun(results, "one")
    attempts = load_run(results / f"farreach_one/{NAME}").attempts
    wall_s = (attempts[-1].ended_at_ns - attempts[0].began_at_ns) / 1e9
    written = write_overview(series)
    assert f"{24 * 0.6 / wall_s:.2f}" in written.text.splitlines()[3]


def test_what_was_taken_over_was_not_measured_here(results: Path) -> None:
    run = results / f"farreach_two/{NAME}"
    lines = [line | {"taken_from": "x/night/raw"} for line in recordings.journal(run)]
    recordings.write_journal(run, lines)
    written = write_overview(begun(results, "two"))
    row = next(line for line in written.text.splitlines() if line.startswith("farreach_two"))
    assert "0 of 4" in row
    assert row.split()[-1] == "\N{EN DASH}"


def test_runs_that_were_begun_one_by_one_have_one_too(results: Path) -> None:
    (series,) = series_named(results, NAME)
    text = write_overview(series).text
    assert text.index("farreach_one") < text.index("farreach_two")
    assert f"Experiments of run {NAME}" in page_of(series)
    with pytest.raises(TurntableError, match="no run 'day' of any experiment"):
        series_named(results, "day")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Cells of workloads A and C."""
    return load_run(recordings.copy_run(tmp_path, recordings.ROUNDS))


def said(run: Run, tmp_path: Path, factors: tuple[float, float], **changes: object) -> Statement:
    """Published is what was measured, divided by factors."""
    metric = changes.pop("metric", "normalized_throughput")
    lines = ["workload,metric,value"]
    for cell, factor in zip(run.cells, factors, strict=True):
        value = cell.measured(metric).mean / factor
        lines.append(f"{cell.parameters['workload']},{metric},{value}")
    table = tmp_path / "published.csv"
    table.write_text("\n".join(lines) + "\n")
    plan = replace(run.plan, reference=str(table), **changes)
    (statement,) = statements(replace(run, plan=plan))
    return statement


def test_near_numbers_are_reproduced(run: Run, tmp_path: Path) -> None:
    statement = said(run, tmp_path, (1.02, 0.96))
    assert statement == Statement(
        "normalized throughput",
        "reproduced",
        "within 4.0% in 2 published cells, half of them within 3.0%",
    )


def test_farther_ones_have_a_shape_or_differ(run: Run, tmp_path: Path) -> None:
    """Measured are both cells alike, published are not."""
    one, other = (cell.measured("normalized_throughput").mean for cell in run.cells)
    up, down = (2.0, 1.5) if one > other else (1.5, 2.0)
    differs = said(run, tmp_path, (up * 1.3, down * 0.7))
    assert differs.state == "differs"
    assert differs.text.startswith("0 of 1 orders kept; within ")
    kept = said(run, tmp_path, (down / 1.2, up))
    assert kept.state == "shape only"
    assert "1 of 1 orders kept" in kept.text


def test_absolute_numbers_of_an_emulated_testbed_are_compared_in_proportion(
    run: Run, tmp_path: Path
) -> None:
    statement = said(run, tmp_path, (0.0101, 0.0099), metric="aggregate_ops_per_s")
    assert statement.state == "shape only"
    assert "within 1.0% of a common factor of 0.01 in 2 published cells" in statement.text
    rack = replace(run, manifest={"fidelity_class": "rack"})
    assert said(rack, tmp_path, (1.01, 1.0), metric="aggregate_ops_per_s").state == "reproduced"


def test_an_experiment_says_what_cannot_be_compared(run: Run, tmp_path: Path) -> None:
    figures = ({"title": "Figure 9", "metric": "normalized_throughput", "not_comparable": "why"},)
    assert said(run, tmp_path, (1, 1), figures=figures) == Statement(
        "Figure 9", "not comparable", "why"
    )
    rack = replace(run, manifest={"fidelity_class": "rack"})
    assert said(rack, tmp_path, (1, 1), figures=figures).state == "reproduced"
    always = ({"title": "Figure 10", "not_comparable": "not found"},)
    assert said(rack, tmp_path, (1, 1), figures=always).state == "not comparable"


def test_other_parameters_nothing_valid_or_no_table_are_no_comparison(
    run: Run, tmp_path: Path
) -> None:
    assert (
        statements(replace(run, plan=replace(run.plan, reference=None)))[0].state
        == "not comparable"
    )
    # The recordings have four servers: nothing was published of them.
    (first, *_) = statements(run)
    assert first.state == "not comparable"
    assert "nothing was published for the parameters of profile" in first.text
    void = replace(run, cells=tuple(replace(cell, turns=cell.turns[:0]) for cell in run.cells))
    table = tmp_path / "published.csv"
    table.write_text("workload,metric,value\nworkloada,normalized_throughput,3\n")
    plan = replace(run.plan, reference=str(table))
    assert statements(replace(void, plan=plan))[0].state == "not measured"
