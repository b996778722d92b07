"""Columns of summary.csv, undilated."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turntable.measurement import Measurement
from turntable.systems.netclone import summary
from turntable.verdict import Case

from .conftest import parameters
from .measured import SIMULATED, coordinated, healthy, histogram, plain, with_clients
from .test_verdict import BOUNDS


def row(measurement: Measurement | None, **changes: object) -> dict:
    measured = [] if measurement is None else [measurement]
    case = Case(measured, 1, BOUNDS, parameters(**changes), "emulated", SIMULATED)
    return summary.values(case)


def test_every_column_has_a_value_or_none() -> None:
    for measurement in (healthy(), None):
        assert set(row(measurement)) == {*summary.COLUMNS}


def test_times_and_rates_are_undilated() -> None:
    found = row(healthy())
    assert found["p50_us"] == pytest.approx(30, rel=0.001)
    assert found["p99_us"] == pytest.approx(80, rel=0.001)
    assert found["p999_us"] == pytest.approx(80, rel=0.001)
    assert found["mean_us"] == pytest.approx((30 * 950 + 80 * 49 + 400) / 1000, rel=0.001)
    # One of 1000 took longer than 300 us.
    assert found["share_above_tail"] == pytest.approx(0.001)
    # 1000 in two seconds, each of which is a hundredth of one.
    assert found["offered_rps"] == found["delivered_rps"] == 50_000


def test_the_tail_of_longer_services_begins_later() -> None:
    texts = (histogram({50_000: 1, 70_000: 1}),)
    assert row(with_clients(latency=texts), distribution="bimodal50")["share_above_tail"] == 0.5
    assert row(with_clients(latency=texts), distribution="bimodal25")["share_above_tail"] == 1


def test_clones_are_those_of_the_windows_requests() -> None:
    """Switch and coordinator count warm-up and drain as well."""
    measured = with_clients(cloned_answers=300, lost=40)
    found = row(measured)
    assert found["clone_rate"] == 300 / 960
    assert found["clones_dropped_share"] == 60 / 600
    laedge = replace(coordinated(), clients=measured.clients)
    assert row(laedge, method="laedge")["clone_rate"] == 300 / 960
    assert row(plain(), method="cclone")["clone_rate"] == 1
    assert row(plain(), method="noclone")["clone_rate"] == 0
    assert row(plain(), method="noclone")["clones_dropped_share"] is None


def test_reports_of_an_empty_queue_are_true_where_a_slot_was_free() -> None:
    found = row(healthy())
    assert found["empty_share"] == pytest.approx(1400 / 1540)
    assert found["empty_true_share"] == pytest.approx(0.9)


def test_a_server_with_one_worker_has_no_other_that_could_be_free() -> None:
    """0 % would say that all of its reports were false."""
    alone = replace(healthy().servers[0], slots=1, answers_empty_all_busy=700)
    measured = replace(healthy(), servers=(alone, alone))
    assert row(measured)["empty_true_share"] is None
    assert row(measured)["empty_share"] == pytest.approx(1400 / 1540)
    mixed = replace(healthy(), servers=(alone, healthy().servers[1]))
    assert row(mixed)["empty_true_share"] == pytest.approx(0.9)


def test_a_saturated_cell_shows_no_latency() -> None:
    found = row(with_clients(delivered=900))
    assert (found["state"], found["shown_p99_us"], found["shown_mean_us"]) == (
        *("saturated", None, None),
    )  # fmt: skip
    assert found["p99_us"] is not None  # for diagnosis
    assert found["delivered_rps"] == 45_000


def test_a_prediction_that_is_saturated_promises_nothing() -> None:
    saturated = replace(SIMULATED, saturated=True)
    case = Case([healthy()], 1, BOUNDS, parameters(), "emulated", saturated)
    found = summary.values(case)
    assert found["predicted_p99_us"] is None
    assert found["trace_p99_us"] == pytest.approx(80, rel=0.001)


def test_a_replay_is_shown_beside_what_is_steady() -> None:
    """Nearly saturated, of the same draws one may be called so and the other not."""
    measurement = replace(healthy(), replay=replace(SIMULATED, saturated=True))
    assert row(measurement)["trace_p99_us"] == pytest.approx(80, rel=0.001)
    clients = replace(measurement.clients, delivered=900)
    assert row(replace(measurement, clients=clients))["trace_p99_us"] is None


def test_nothing_measured_is_no_zero() -> None:
    found = row(None)
    assert found["p99_us"] is found["delivered_rps"] is found["clone_rate"] is None
    assert found["load"] == 0.5
