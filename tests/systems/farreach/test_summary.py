"""From a run directory to summary.csv and the table, on numbers that can be checked by hand.

The plan is that of conftest: 4 servers, bottleneck 2, capacity 100 ops/s, one second.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from turntable.summarize import summarize_directory
from turntable.systems.farreach.summary import COLUMNS
from turntable_core import plan as plans
from turntable_core.errors import TurntableError
from turntable_core.run_directory import RunDirectory
from turntable_core.spec import Scale
from turntable_systems.farreach.prediction import Composition, Prediction

from .plans import EVEN, make_plan
from .recorded import record, record_failure, write_run


@pytest.fixture
def plan(scale: Scale) -> plans.Plan:
    """One turn: workload A, one round."""
    scale = replace(scale, rounds=1, factors={**scale.factors, "workload": ["workloada"]})
    return make_plan(scale, Prediction(2, EVEN, Composition((0.2, 0.3, 0.4, 0.1), 2.5, 4.0)))


@pytest.fixture
def run(tmp_path: Path, plan: plans.Plan) -> RunDirectory:
    return write_run(tmp_path / "results" / "tiny" / "r1", plan)


# Operations of the bottleneck (2) and the rotated partition in iterations 0 to 3.
STEADY = [{2: 100}, {2: 100, 0: 50}, {2: 100, 1: 75}, {2: 100, 3: 25}]


def measure(run: RunDirectory, iterations: list[dict[int, int]]) -> None:
    """Two client machines; the first has 3/5 of the operations."""
    turn = run.plan().turns[0]
    for iteration, ops in zip(turn.iterations, iterations, strict=False):
        first = {partition: count * 3 // 5 for partition, count in ops.items()}
        record(run, turn, iteration, [first, {p: count - first[p] for p, count in ops.items()}])


def only_row(run: RunDirectory) -> dict[str, str]:
    summarize_directory(run.path)
    with (run.path / "summary.csv").open(newline="", encoding="utf-8") as lines:
        (row,) = csv.DictReader(lines)
    return row


def test_complete_turn(run: RunDirectory) -> None:
    # 100 + 50 + 75 + 25 = 250 ops/s; / 100 = 2.5; imbalance 100 / 25 = 4. All answers took 10 ms.
    measure(run, STEADY)
    row = only_row(run)
    assert tuple(row) == (*COLUMNS, "taken_from", "cell")
    expected = {
        "experiment": "tiny", "profile": "smoke", "fidelity_class": "emulated", "method": "nocache",
        "servers": "4", "round": "0", "aggregate_ops_per_s": "250.0", "switch_ops_per_s": "0.0",
        "server_ops_per_s": "250.0", "normalized_throughput": "2.5", "imbalance_ratio": "4.0",
        "predicted_normalized": "4.0", "trace_normalized": "2.5", "trace_imbalance": "4.0",
        "paper_normalized": "", "busiest_utilization": "1.0", "latency_mean_us": "10000.0",
        "iterations_ok": "4", "iterations_failed": "0", "retries": "0", "verdict": "valid",
        "bottleneck_partition": "2", "busiest_partition": "2", "absolute_ops_per_s": "250.0",
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert float(row["latency_p99_us"]) == pytest.approx(10000, rel=1e-3)


def test_missing_iteration_leaves_results_empty_and_the_verdict_invalid(run: RunDirectory) -> None:
    measure(run, STEADY[:3])
    turn = run.plan().turns[0]
    record_failure(run, turn, turn.iterations[3])
    row = only_row(run)
    empty = (
        "aggregate_ops_per_s",
        "normalized_throughput",
        "imbalance_ratio",
        "latency_mean_us",
        "latency_p99_us",
    )
    assert [row[name] for name in empty] == [""] * len(empty)
    assert (row["iterations_ok"], row["iterations_failed"]) == ("3", "1")
    assert row["verdict"] == "invalid: 1 of 4 iterations are missing"
    assert row["busiest_utilization"] == "1.0"


def test_nothing_measured_is_a_row_without_numbers(run: RunDirectory) -> None:
    row = only_row(run)
    assert (row["aggregate_ops_per_s"], row["busiest_utilization"], row["retries"]) == ("", "", "")
    assert row["iterations_ok"] == "0"


def test_later_attempt_replaces_an_earlier_one(run: RunDirectory) -> None:
    measure(run, [{2: 50}])
    measure(run, STEADY)
    assert only_row(run)["aggregate_ops_per_s"] == "250.0"


def test_servers_below_capacity_are_invalid_with_the_same_normalized_throughput(
    run: RunDirectory,
) -> None:
    measure(run, [{p: count // 5 for p, count in ops.items()} for ops in STEADY])
    row = only_row(run)
    assert row["normalized_throughput"] == "2.5"
    assert row["verdict"].startswith(
        "invalid: the servers were not the bottleneck: the busier server ran at 0.200"
    )


def test_invalid_row_is_a_gap_in_the_table_and_no_zero(run: RunDirectory) -> None:
    measure(run, [{p: count // 5 for p, count in ops.items()} for ops in STEADY])
    table = summarize_directory(run.path).table
    (numbers,) = (line.split() for line in table.splitlines() if line.startswith("workloada nocac"))
    assert " ".join(numbers) == "workloada nocache 4 4.00 2.50 - - 1.000 4.000 - - - invalid"


# Nothing measured, an iteration missing, and clients that got no answer.
@pytest.mark.parametrize("measured", [[], STEADY[:3], [dict.fromkeys(ops, 0) for ops in STEADY]])
def test_nothing_missing_is_written_as_zero(run: RunDirectory, measured: list) -> None:
    measure(run, measured)
    results = [
        name
        for name in COLUMNS
        if name.endswith(("_ops_per_s", "_us", "_throughput", "_ratio"))
        and name not in ("capacity_ops_per_s", "trace_aggregate_ops_per_s")  # of the plan
    ]
    row = only_row(run)
    assert {row[name] for name in results} == {""}
    table = summarize_directory(run.path).table
    (numbers,) = (line.split() for line in table.splitlines() if line.startswith("workloada nocac"))
    verdict = "invalid" if measured else "not measured"
    assert " ".join(numbers) == f"workloada nocache 4 4.00 2.50 - - 1.000 4.000 - - - {verdict}"


def test_what_was_not_checked_is_said(run: RunDirectory) -> None:
    measure(run, STEADY)  # without statistics of hosts and of the switch's thread
    row = only_row(run)
    assert row["verdict"] == "valid"
    assert "steal" in row["not_checked"]
    assert "retries" not in row["not_checked"]
    table = " ".join(summarize_directory(run.path).table.split())
    assert f"Not checked: {row['not_checked']}" in table


def test_summary_is_valid_only_if_every_row_is(run: RunDirectory) -> None:
    measure(run, STEADY[:3])
    summary = summarize_directory(run.path)
    assert not summary.valid
    assert (
        summary.reasons
        == "workloada nocache 4 servers round 0: invalid: 1 of 4 iterations are missing"
    )


def test_table_fits_the_terminal_and_says_what_it_is(run: RunDirectory) -> None:
    measure(run, STEADY)
    table = summarize_directory(run.path).table
    lines = [line for line in table.splitlines() if not line.startswith("Results:")]
    assert max(map(len, lines)) <= 100
    assert "fidelity class emulated" in table
    assert "queueing" in table
    assert "median: 0.25 s" in table
    (numbers,) = (line.split() for line in lines if line.startswith("workloada"))
    assert " ".join(numbers) == (
        "workloada nocache 4 4.00 2.50 - 2.50 1.000 4.000 - 4.000 250 valid"
    )


def test_a_directory_that_is_no_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TurntableError, match=r"not a run: it has no plan\.json"):
        summarize_directory(tmp_path)


def test_raw_files_are_written_once(run: RunDirectory) -> None:
    with pytest.raises(TurntableError, match="written once"):
        run.create(run.plan(), {})
    assert json.loads(run.manifest_file.read_text()) == {"fidelity_class": "emulated"}


def test_paper_values_are_only_for_published_parameters(tmp_path: Path, plan: plans.Plan) -> None:
    cell = plan.cells[0]
    published = dict(cell.parameters) | {
        "servers": 16,
        "records": 100_000_000,
        "cache_size": 10_000,
    }
    for theta, value in ((0.99, "11.03"), (0.9, "")):
        parameters = published | {"theta": theta}
        turn = replace(plan.turns[0], cell=plans.Cell(plans.cell_id(parameters), parameters))
        reference = "reference/farreach_exp01_throughput.csv"
        run = write_run(tmp_path / str(theta), replace(plan, turns=(turn,), reference=reference))
        assert only_row(run)["paper_normalized"] == value
