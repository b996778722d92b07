"""The main job on the embedded testbed: real programs and a short measurement."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import (
    REPOSITORY,
    TESTBED_ID,
    Finished,
    came_too_late,
    measured,
    playbook,
    require_valid,
    skip_unless_valid,
    was_made_again,
)

pytestmark = pytest.mark.e2e

EXPERIMENT = "farreach/exp01_throughput"

# design.md §6: the contract of summary.csv. Spelled out, so that a change of the code is noticed.
COLUMNS = [
    "experiment",
    "profile",
    "fidelity_class",
    "system",
    "method",
    "workload",
    "servers",
    "cache_size",
    "value_bytes",
    "theta",
    "round",
    "capacity_ops_per_s",
    "aggregate_ops_per_s",
    "switch_ops_per_s",
    "server_ops_per_s",
    "normalized_throughput",
    "imbalance_ratio",
    "predicted_normalized",
    "predicted_imbalance",
    "trace_normalized",
    "trace_imbalance",
    "paper_normalized",
    "busiest_utilization",
    "latency_mean_us",
    "latency_p50_us",
    "latency_p90_us",
    "latency_p95_us",
    "latency_p99_us",
    "latency_p999_us",
    "iterations_ok",
    "iterations_failed",
    "retries",
    "verdict",
    "bottleneck_partition",
    "busiest_partition",
    "absolute_ops_per_s",
    "not_checked",
    "update_round_trip_us",
    "trace_aggregate_ops_per_s",
    "recovery_s",
    "server_replay_s",
    "server_replay_records_per_s",
    "switch_replay_s",
    "switch_replay_records_per_s",
    "iterations_repeated",
    "predicted_dip",
    "dip",
    "return_s",
    "hot_threshold",
    "hot_threshold_at_rate",
    "target_share",
    "target_ops_per_s",
    "offered_ops_per_s",
    "delivered_share",
    "state",
    "path_us",
    "busiest_load",
    "wait_us",
    "predicted_wait_us",
    "predicted_latency_mean_us",
    "latency_from_send_mean_us",
    "latency_from_send_p99_us",
    "send_late_p99_us",
    "bandwidth_mib_per_s",
    "bandwidth_elapsed_mib_per_s",
    "snapshot_mib",
    "hits_per_s",
    "switch_ns_per_op",
    "client_ns_per_op",
    "hit_latency_p999_us",
    "client",
    "record",
    "ycsb_ops_per_s",
    "ycsb_failed",
    "taken_from",
    "cell",
]


@pytest.fixture(scope="module")
def smoke(testbed: Path) -> Finished:
    return measured(EXPERIMENT, testbed, profile="smoke")


def test_smoke_run_is_valid(smoke: Finished) -> None:
    assert smoke.status == 0, smoke.output
    (row,) = smoke.rows()
    assert list(row) == COLUMNS
    require_valid(smoke)
    failed = [attempt for attempt in smoke.journal() if attempt["status"] == "failed"]
    assert all(came_too_late(attempt) for attempt in failed), failed
    assert (row["iterations_ok"], row["iterations_failed"]) == ("16", str(len(failed)))
    assert row["retries"] == "0"


def test_smoke_run_shows_prediction_paper_and_measurement(smoke: Finished) -> None:
    # Predictions: FarReach reference §5.5. A one-second window sees 5,000 operations of the
    # bottleneck, so its share has a standard error of 1.4 %: 6 % is four of them.
    (row,) = smoke.rows()
    assert float(row["predicted_normalized"]) == pytest.approx(11.10, abs=0.01)
    assert float(row["predicted_imbalance"]) == pytest.approx(1.761, abs=0.001)
    assert float(row["paper_normalized"]) == 11.03
    assert all(text in smoke.output for text in ("pred.", "trace", "paper", "measured"))
    trace = float(row["trace_normalized"])
    skip_unless_valid(smoke)
    assert float(row["normalized_throughput"]) == pytest.approx(trace, rel=0.06)
    assert float(row["aggregate_ops_per_s"]) == pytest.approx(trace * 5000, rel=0.08)


def test_every_iteration_is_in_the_journal_with_its_files(smoke: Finished) -> None:
    attempts = [attempt for attempt in smoke.journal() if not was_made_again(attempt)]
    assert [attempt["iteration"] for attempt in attempts] == list(range(16))
    for attempt in attempts:
        where = f"raw/{attempt['cell']}/r0/i{attempt['iteration']}/a{attempt['attempt']}"
        assert attempt["status"] == "ok"
        assert {"switch0.json", "server0.json", "client0.json", "client1.json"} <= set(
            attempt["files"]
        )
        assert all((smoke.directory / where / name).exists() for name in attempt["files"])
        assert attempt["overhead_s"] > 0


def test_manifest_says_what_ran(smoke: Finished) -> None:
    manifest = json.loads((smoke.directory / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["fidelity_class"] == "emulated"
    assert {"bin/kvserver", "bin/kvclient", "bin/softswitch"} <= set(manifest["binaries"])
    assert "lib/p4/nocache.so" in manifest["p4_programs"]
    assert manifest["machine"]["kernel"]


def test_summary_comes_from_raw_files_alone(smoke: Finished) -> None:
    summary = smoke.directory / "summary.csv"
    before = summary.read_bytes()
    summary.unlink()
    command = [sys.executable, "-m", "turntable", "summarize", str(smoke.directory)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert summary.read_bytes() == before


def test_no_node_is_left(smoke: Finished) -> None:
    names = ("supervisor", "softswitch", "kvserver", "kvclient")
    left = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = command.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(f"/{TESTBED_ID}/" in word for word in words) and any(n in words[0] for n in names):
            left.append(words)
    assert left == []


def test_continuing_a_finished_run_measures_nothing(smoke: Finished, testbed: Path) -> None:
    before = smoke.journal()
    name = smoke.directory.name
    again = playbook(EXPERIMENT, testbed, profile="smoke", run=name, fail_on_invalid=False)
    assert again.status == 0, again.output
    assert "0 of 16 iterations to measure" in again.output
    assert again.journal() == before


def test_other_parameters_do_not_continue_a_run(smoke: Finished, testbed: Path) -> None:
    other = playbook(EXPERIMENT, testbed, profile="smoke", run=smoke.directory.name, theta=0.9)
    assert other.status != 0
    assert "theta was 0.99, is 0.9" in other.output


@pytest.mark.parametrize(
    "cause",
    [{"capacity_ops_per_s": 0}, {"switch_processing_delay_ns": 200_000}],
    ids=["no capacity", "slow switch"],
)
def test_servers_that_are_not_the_bottleneck_make_a_run_invalid(
    testbed: Path, cause: dict[str, int]
) -> None:
    short = {"profile": "smoke", "servers": 4, "measure_s": 0.5, "repeats": 0, **cause}
    judged = playbook(EXPERIMENT, testbed, **short, fail_on_invalid=False)
    assert judged.status == 0, judged.output
    (row,) = judged.rows()
    assert row["verdict"].startswith("invalid: the servers were not the bottleneck")
    # The dimensionless result alone would not have told.
    assert float(row["normalized_throughput"]) > 2


def test_invalid_run_fails_unless_told_otherwise(testbed: Path) -> None:
    short = {"profile": "smoke", "servers": 2, "measure_s": 0.2, "repeats": 0}
    judged = playbook(EXPERIMENT, testbed, **short, capacity_ops_per_s=0)
    assert judged.status != 0
    assert "the servers were not the bottleneck" in judged.output
    (row,) = judged.rows()
    assert row["verdict"].startswith("invalid")
    again = f"-e run={judged.directory.name} -e only={row['cell']}"
    assert again in " ".join(judged.output.split())


@pytest.mark.parametrize(
    ("extra_vars", "message"),
    [
        ({"worload": "workloada"}, "did you mean 'workload'"),
        ({"servers": 17}, "one of 2, 4, 8, 16"),
        ({"method": "distcache"}, "one of nocache, farreach, netcache"),
        ({"profile": "smoek"}, "did you mean 'smoke'"),
        ({"profile": "smoke", "clients": 127}, "a multiple of 2, the number of client hosts"),
        ({"profile": "smoke", "warmup_s": 0.01}, "at least 2 * clients / capacity_ops_per_s"),
        ({"profile": "smoke", "only": "iteration=0"}, "expected -e run=ID beside it"),
    ],
)
def test_bad_input_ends_before_anything_is_touched(
    testbed: Path, tmp_path: Path, extra_vars: dict, message: str
) -> None:
    refused = playbook(EXPERIMENT, tmp_path, **extra_vars)
    assert refused.status != 0
    assert message in " ".join(refused.output.split())
    assert list(tmp_path.iterdir()) == []


def test_check_mode_shows_the_plan_and_changes_nothing(testbed: Path, tmp_path: Path) -> None:
    checked = playbook(EXPERIMENT, tmp_path, profile="smoke", servers="2,4", check=True)
    assert checked.status == 0, checked.output
    assert "2 cell(s) x 1 round(s), 6 of 6 iterations to measure" in checked.output
    assert "time    about 0:" in checked.output
    assert "free there" in checked.output
    assert list(tmp_path.iterdir()) == []


def test_one_iteration_is_measured_again(smoke: Finished, testbed: Path) -> None:
    before = smoke.journal()
    name = smoke.directory.name
    only = "workload=workloada,iteration=0"
    again = playbook(EXPERIMENT, testbed, run=name, only=only, fail_on_invalid=False)
    assert again.status == 0, again.output
    assert "1 of 16 iterations to measure" in again.output
    after = again.journal()
    assert after[: len(before)] == before
    (attempt,) = (line for line in after[len(before) :] if not was_made_again(line))
    assert (attempt["iteration"], attempt["status"]) == (0, "ok")
    earlier = [line for line in after[:-1] if line["iteration"] == 0]
    assert attempt["attempt"] == len(earlier) + 1 >= 2
    assert again.rows()[0]["iterations_ok"] == "16"


def test_what_is_measured_again_must_exist(smoke: Finished, testbed: Path) -> None:
    before = sorted(smoke.directory.rglob("*"))
    name = smoke.directory.name
    refused = playbook(EXPERIMENT, testbed, run=name, only="workload=workloadb")
    assert refused.status != 0
    assert "did you mean 'workloada'?" in " ".join(refused.output.split())
    assert sorted(smoke.directory.rglob("*")) == before
