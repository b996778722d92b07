"""Homa beside Basic and its simulation, from plan to report, on two testbeds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from turntable_testbed import fingerprint

from .conftest import BUILD, Finished, measured, playbook, require_root_and_programs

pytestmark = pytest.mark.e2e

# Beside the testbeds of the other end-to-end tests.
TESTBED_ID = f"h{os.getpid() % 100000:05d}"
EIGHT_HOSTS = {
    "inventory": "embedded-homa",
    "turntable_testbed_id": TESTBED_ID,
    "turntable_data_network": f"198.18.{32 + os.getpid() % 32}.0/24",
    "turntable_control_network": f"198.19.{32 + os.getpid() % 32}.0/24",
}
PROGRAMS = ("bin/msgbench-client", "bin/msgbench-server", "bin/homa-sim", "lib/p4/priority.so")


@pytest.fixture(scope="module", autouse=True)
def _programs_are_there() -> None:
    missing = [name for name in PROGRAMS if not (BUILD / name).exists()]
    if missing:
        pytest.skip(f"{BUILD} lacks {', '.join(missing)}: run `make build` first")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory for results of a testbed that is up."""
    require_root_and_programs()
    before = fingerprint.take(TESTBED_ID)
    directory = tmp_path_factory.mktemp("results-of-homa")
    up = playbook("testbed_up", directory, **EIGHT_HOSTS)
    assert up.status == 0, up.output
    yield directory
    down = playbook("testbed_down", directory, **EIGHT_HOSTS, purge=True)
    assert down.status == 0, down.output
    assert fingerprint.take(TESTBED_ID) == before


@pytest.fixture(scope="module")
def slowdown(results: Path) -> Finished:
    return measured("homa/slowdown", results, **EIGHT_HOSTS, profile="smoke")


def test_both_transports_are_valid(slowdown: Finished) -> None:
    assert slowdown.status == 0, slowdown.output
    assert [row["method"] for row in slowdown.rows()] == ["basic", "homa-p8"]
    for row in slowdown.rows():
        assert row["verdict"] == "valid", f"{row['method']}: {row['verdict']}"
        assert row["state"] == "steady"


def test_small_messages_wait_less_with_priorities(slowdown: Finished) -> None:
    """The paper has 42 to 52 for Basic and 2.8 to 3.4 for Homa; Basic's scatters."""
    half = {row["method"]: float(row["p99_half"]) for row in slowdown.rows()}
    assert half["basic"] > 5 * half["homa-p8"]
    assert 1.5 < half["homa-p8"] < 4


def test_it_is_what_the_simulation_of_the_same_calls_says(slowdown: Finished) -> None:
    (row,) = (row for row in slowdown.rows() if row["method"] == "homa-p8")
    assert float(row["p99_half"]) == pytest.approx(float(row["predicted_p99_half"]), rel=0.25)
    for tenth in range(1, 11):
        predicted = float(row[f"predicted_p99_tenth_{tenth}"])
        assert float(row[f"p99_tenth_{tenth}"]) == pytest.approx(predicted, rel=0.4)


def test_one_size_at_most_once_with_short_answers(results: Path) -> None:
    run = measured(
        "homa/slowdown",
        results,
        **EIGHT_HOSTS,
        profile="smoke",
        method="homa-p3",
        sizes="fixed",
        message_bytes=3000,
        priorities="rule",
        at_most_once=True,
        response_bytes=100,
        load=0.4,
        measure_s=4,
    )
    (row,) = run.rows()
    assert row["aborted"] == "0"
    assert int(row["calls"]) > 1000


def test_half_of_the_clients_have_tcp(results: Path) -> None:
    """Both halves are served, on links that they share."""
    run = measured("homa/mixed", results, **EIGHT_HOSTS, profile="smoke")
    (row,) = run.rows()
    assert row["beside"] == "tcp"
    assert float(row["p99_half"]) < float(row["beside_p99_half"])
    assert float(row["beside_delivered_share"]) > 0.9


def test_packets_fit_an_mtu_of_1500_with_a_smaller_payload(testbed: Path) -> None:
    run = measured(
        "homa/slowdown",
        testbed,
        profile="smoke",
        method="homa-p2",
        clients=2,
        payload_bytes=1442,
        rtt_bytes=0,
        measure_s=6,
    )
    (row,) = run.rows()
    assert int(row["rtt_bytes"]) % 1442 == 0
    assert row["delivered_share"] != ""
