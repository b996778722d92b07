"""Data frames of recorded runs, against numbers of the raw files (see recordings)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import turntable
from turntable import stats, summary
from turntable.summarize import summarize_run
from turntable.systems.farreach import tidy
from turntable_core.errors import TurntableError

from . import recordings


@pytest.fixture(scope="module")
def one() -> turntable.Run:
    return turntable.load_run(recordings.RECORDED / recordings.RUN)


@pytest.fixture(scope="module")
def several() -> turntable.Run:
    return turntable.load_run(recordings.RECORDED / recordings.ROUNDS)


def test_rounds_are_the_rows_of_the_summary(tmp_path: Path) -> None:
    run = turntable.load_run(recordings.copy_run(tmp_path, recordings.ROUNDS))
    frame = tidy.rounds(run)
    assert list(frame["workload"]) == ["workloada"] * 3 + ["workloadc"] * 3
    assert list(frame["round"]) == [0, 1, 2] * 2
    assert frame["valid"].all()
    summarize_run(run)
    with (run.directory / "summary.csv").open(newline="", encoding="utf-8") as lines:
        written = [float(row["normalized_throughput"]) for row in csv.DictReader(lines)]
    assert list(frame["normalized_throughput"]) == pytest.approx(written, abs=1e-4)


def test_rows_of_the_csv_files_tell_cells_apart() -> None:
    """By a parameter that only this experiment varies, and by the cell's id."""
    run = turntable.load_run(recordings.RECORDED / recordings.UPDATES)
    ids = [cell.id for cell in run.plan.cells]
    delays = [cell.parameters.get("value_update_delay_us", "") for cell in run.plan.cells]
    assert len(set(delays)) > 1
    for text in (summary.summary_csv(run), summary.cells_csv(run)):
        rows = list(csv.DictReader(text.decode().splitlines()))
        assert [row["cell"] for row in rows] == ids
        assert [row["value_update_delay_us"] for row in rows] == [str(delay) for delay in delays]


def test_iterations(one: turntable.Run) -> None:
    frame = tidy.iterations(one)
    assert len(frame) == 7  # the bottleneck in 4 iterations, three rotated partitions
    rotated = frame[frame["role"] == "rotated"].set_index("partition")
    operations = rotated["server_ops_per_s"] * rotated["seconds"]
    assert operations.to_dict() == pytest.approx({0: 4455, 1: 3747, 2: 4361})
    assert (frame["requests_total"] == frame["switch_requests"]).all()
    assert (frame["switch_ops_per_s"] == 0).all()


def test_servers(one: turntable.Run) -> None:
    frame = tidy.servers(one)
    busier = frame[frame["role"] == "bottleneck"]["utilization"]
    assert busier.between(0.97, 1.03).all()
    assert len(frame) == 7


def test_seconds(several: turntable.Run) -> None:
    """Windows of 0.6 s are one short second, whose rate is that of the window."""
    seconds, iterations = tidy.seconds(several), tidy.iterations(several)
    assert set(seconds["second"]) == {0}
    key = ["cell", "round", "iteration", "partition"]
    both = seconds.merge(iterations, on=key)
    assert len(both) == len(iterations) == 2 * 3 * 7
    assert both["ops_per_s"].tolist() == pytest.approx(both["server_ops_per_s"].tolist(), rel=1e-6)


def test_latency_is_the_histogram_that_percentiles_are_read_from(one: turntable.Run) -> None:
    frame, (cell,) = tidy.latency(one), one.cells
    assert frame["share"].is_monotonic_increasing
    assert frame["share"].iloc[-1] == pytest.approx(1)
    median = frame[frame["share"] >= 0.5]["latency_us"].iloc[0]
    assert median == cell.turns[0].row["latency_p50_us"]


def test_attempts_and_parameters(several: turntable.Run) -> None:
    attempts = tidy.attempts(several)
    assert len(attempts) == 24
    assert set(attempts["status"]) == {"ok"}
    parameters = tidy.parameters(several)
    assert list(parameters["workload"]) == ["workloada", "workloadc"]
    assert set(parameters["capacity_ops_per_s"]) == {2000}


def test_several_runs_in_one_frame(one: turntable.Run, several: turntable.Run) -> None:
    frame = tidy.rounds([one, several])
    assert list(frame["run"].unique()) == [recordings.RUN, recordings.ROUNDS]
    assert len(frame) == 7


def test_runs_below_a_directory() -> None:
    runs = turntable.load_runs(recordings.RECORDED)
    assert [run.name for run in runs] == [
        recordings.RUN,
        recordings.ROUNDS,
        recordings.UPDATES,
        recordings.RECOVERY,
        recordings.LATENCY,
    ]
    assert [run.name for run in turntable.load_runs([runs[1].directory])] == [recordings.ROUNDS]
    with pytest.raises(TurntableError, match="no run in or below it"):
        turntable.load_runs(Path(__file__).parent / "no-such-directory")


def test_nothing_measured_is_an_empty_frame(tmp_path: Path) -> None:
    directory = recordings.copy_run(tmp_path)
    (directory / "journal.ndjson").write_text("")
    run = turntable.load_run(directory)
    keys = ["experiment", "run", "cell", "workload", "method", "servers", "round", "valid"]
    for frame in (tidy.iterations(run), tidy.servers(run), tidy.seconds(run), tidy.latency(run)):
        assert len(frame) == 0
        assert list(frame.columns[: len(keys)]) == keys
    (row,) = tidy.rounds(run).to_dict("records")
    assert row["normalized_throughput"] is None
    assert not row["valid"]


def test_across_rounds(tmp_path: Path) -> None:
    """cells.csv, the table and stats say the same about three rounds, by the formula."""
    run = turntable.load_run(recordings.copy_run(tmp_path, recordings.ROUNDS))
    values = tidy.rounds(run)["normalized_throughput"][:3].tolist()
    mean = sum(values) / 3
    deviation = (sum((value - mean) ** 2 for value in values) / 2) ** 0.5
    half_width = 4.3027 * deviation / 3**0.5  # t(2) at 95 %
    table = summarize_run(run).table
    assert f"{mean:.2f} ±{half_width:.2f}" in table
    assert max(map(len, table.splitlines()[:-1])) <= 100
    with (run.directory / "cells.csv").open(newline="", encoding="utf-8") as lines:
        first, _ = csv.DictReader(lines)
    assert float(first["normalized_throughput"]) == pytest.approx(mean, abs=1e-4)
    assert float(first["normalized_throughput_half_width"]) == pytest.approx(half_width, abs=1e-3)
    assert (first["rounds"], first["valid_rounds"]) == ("3", "3")
    frame = stats.with_interval(tidy.rounds(run), ["workload"], ["normalized_throughput"])
    assert frame["normalized_throughput"][0] == pytest.approx(mean)
