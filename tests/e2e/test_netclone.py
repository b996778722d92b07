"""NetClone from plan to report: every method once, and a switch that dies."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable.load import load_run

from .conftest import BUILD, Finished, measured, playbook

pytestmark = pytest.mark.e2e

PROGRAMS = ("rpcserver", "rpcclient", "laedge-coordinator", "netclone-simulate")
METHODS = ["noclone", "cclone", "netclone", "netclone-racksched", "laedge"]


@pytest.fixture(scope="module", autouse=True)
def _programs_are_there() -> None:
    missing = [name for name in PROGRAMS if not (BUILD / "bin" / name).exists()]
    if missing:
        pytest.skip(f"{BUILD}/bin lacks {', '.join(missing)}: run `make build` first")


@pytest.fixture(scope="module")
def figure7(testbed: Path) -> Finished:
    # Medians of 10 ms: what a slow machine adds to each, some 0.2 ms, is well within a tenth.
    return measured("netclone/figure7", testbed, profile="smoke", dilation=1000)


def test_all_methods_are_valid(figure7: Finished) -> None:
    assert figure7.status == 0, figure7.output
    assert [row["method"] for row in figure7.rows()] == METHODS
    for row in figure7.rows():
        assert row["verdict"] == "valid", f"{row['method']}: {row['verdict']}"
        assert row["state"] == "steady"


def test_cloning_hides_slow_copies(figure7: Finished) -> None:
    """At a load of 0.3: p99 of NoClone is due to jitter, 1 % of the copies."""
    p99_us = {row["method"]: float(row["p99_us"]) for row in figure7.rows()}
    for method in METHODS[1:]:
        assert p99_us[method] < p99_us["noclone"]
    cloned = {row["method"]: float(row["clone_rate"]) for row in figure7.rows()}
    assert cloned["noclone"] == 0
    assert cloned["cclone"] == 1
    assert 0.9 < cloned["netclone"] < 1


def test_medians_are_those_of_a_replay_of_the_same_draws(figure7: Finished) -> None:
    for row in figure7.rows():
        assert float(row["p50_us"]) == pytest.approx(float(row["trace_p50_us"]), rel=0.1)


def test_without_the_filter_answers_come_twice(testbed: Path) -> None:
    run = measured("netclone/filter", testbed, profile="smoke")
    assert run.status == 0, run.output
    redundant = {row["filter"]: float(row["redundant_share"]) for row in run.rows()}
    assert redundant["True"] == 0
    assert redundant["False"] > 0.8


def test_the_switch_dies_and_comes_back(testbed: Path) -> None:
    # Of seconds, not of service times: a machine that is too busy for a verdict shows it as well.
    seconds = {"profile": "smoke", "dilation": 1000, "fail_on_invalid": False}
    run = playbook("netclone/switch_failure", testbed, **seconds)
    assert run.status == 0, run.output
    (turn,) = load_run(run.directory).turns
    (measurement,) = turn.measurements
    delivered = [second["delivered"] for second in measurement.clients.per_second]
    # Killed 5 s after the window's begin, started 7 s after it.
    assert min(delivered[:4]) > 0
    assert delivered[6] == 0
    assert min(delivered[8:10]) > 0
    report = (run.directory / "report.html").read_text(encoding="utf-8")
    assert "kill switch0, 5.0 s" in report
    assert "start switch0, 7.0 s" in report


def test_the_minimal_example(testbed: Path) -> None:
    run = measured("netclone/minimal", testbed, profile="smoke", dilation=1000, requests=200)
    assert run.status == 0, run.output
    assert [row["verdict"] for row in run.rows()] == ["valid"] * 2
    for row in run.rows():
        assert 0.25 < float(row["load"]) < 0.32
