"""Rows of summary.csv, by arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from turntable.raw import COLLECT, RawAnswer
from turntable.systems.shadowfax import summary
from turntable.systems.shadowfax.analysis import _per_second
from turntable.systems.shadowfax.measurement import Measurement
from turntable.systems.shadowfax.raw import read_answers
from turntable.verdict import Case

from .measured import (
    OPERATIONS,
    PARAMETERS,
    VALIDITY,
    WINDOW_S,
    answers,
    client_stats,
    histogram,
    measurement,
    server_stats,
    text_measurement,
)


def row_of(*measurements: Measurement, **parameters: Any) -> dict[str, Any]:
    return summary.values(Case(measurements, 1, VALIDITY, PARAMETERS | parameters, "emulated"))


def test_rates_and_round_trips() -> None:
    row = row_of(measurement())
    assert row["aggregate_ops_per_s"] == OPERATIONS / 2 == 2_000_000
    assert row["ops_per_s_per_worker"] == 500_000  # two servers of two workers
    assert row["fill_ops_per_s"] == 1_000_000
    assert row["round_trip_mean_us"] == 400
    assert row["round_trip_p50_us"] == pytest.approx(400, rel=1e-3)
    # 2 threads x 2 servers x 2 under way x 100 operations / 2 M/s.
    assert row["little_us"] == pytest.approx(400)
    assert row["consistency"] == pytest.approx(1)
    assert row["server_busy_share"] == 0.75  # 1.5 of 2 s
    assert row["client_busy_share"] == 0.5
    assert (row["device_read_mb"], row["device_written_mb"]) == (2, 4)
    assert row["offered_ops_per_s"] is None


def test_what_is_not_known_of_another_store_is_no_zero() -> None:
    row = row_of(text_measurement(), store="memcached")
    assert row["aggregate_ops_per_s"] == 2_000_000
    assert row["ops_per_s_per_worker"] == 500_000
    assert row["server_busy_share"] == 0.75
    assert (row["store"], row["store_version"]) == ("memcached", "1.6.18")
    assert row["device_read_mb"] is row["device_written_mb"] is None
    assert row_of(measurement())["store_version"] is None


def test_means_of_several_hosts_are_of_all_batches() -> None:
    slow = client_stats(batches=100, round_trip_mean_ns=1_000_000.0)
    fast = client_stats(batches=300, round_trip_mean_ns=200_000.0)
    made = answers(slow)
    made.append(RawAnswer("client1", COLLECT, "hlload-node", "stats", fast))
    assert read_answers(made, 0, None).clients.round_trip_mean_us == 400  # (1000 + 3 x 200) / 4


def test_what_waited_for_the_device_is_a_share_and_no_law() -> None:
    row = row_of(measurement(client_stats(pending=OPERATIONS // 4)))
    assert row["pending_share"] == 0.25
    assert row["little_us"] is None
    assert row["consistency"] is None


def test_what_the_device_alone_would_allow_is_said() -> None:
    # Of each server: 2 workers have done 2 s x 500,000/s each, for 50,000 reads/s.
    log = server_stats()["log"] | {"device_reads": WINDOW_S * 50_000}
    made = answers(server=server_stats(log=log))
    made += [
        RawAnswer(
            host, COLLECT, "hlserver-node", "device_reads", {"threads": 4, "reads_per_s": 6e4}
        )
        for host in ("server0", "server1")
    ]
    row = row_of(read_answers(made, 0, 1.0))
    assert row["device_reads_per_s"] == 100_000
    assert row["device_alone_reads_per_s"] == 120_000
    # 20 operations a read.
    assert row["device_limit_ops_per_s"] == 2_400_000


def test_without_a_read_of_the_device_nothing_is_said_of_it() -> None:
    row = row_of(measurement())
    assert row["device_reads_per_s"] is None
    assert row["device_limit_ops_per_s"] is None


def test_an_open_loop_has_an_offered_rate() -> None:
    client = client_stats(
        offered=200_000, latency_ns=histogram({100: 1}), send_late_ns=histogram({1: 1})
    )
    row = row_of(measurement(client), rate_per_s=100_000)
    assert row["offered_ops_per_s"] == 100_000
    assert row["little_us"] is None


def test_nothing_is_no_rate() -> None:
    nothing = client_stats(
        operations=0, adds=0, batches=0, round_trip_ns=histogram({}), round_trip_mean_ns=None
    )
    row = row_of(measurement(nothing))
    assert row["aggregate_ops_per_s"] is None
    assert row["round_trip_p50_us"] is None
    assert row["consistency"] is None


def test_an_incomplete_turn_has_no_values() -> None:
    row = row_of()
    names = ("theta", "owners", "move_share", "sample_s", "indirection", "splits")
    assert [row.pop(name) for name in names] == [0.99, 0, 0.5, 0, False, 64]
    names = ("store", "fill_batch_bytes", "fill_pipeline")
    assert [row.pop(name) for name in names] == ["shadowfax", 32768, 2]
    assert set(row.values()) == {None}


@pytest.mark.parametrize(
    ("counts", "interval_s", "window_s", "expected"),
    [
        ([10, 20, 30, 40], 0.5, 2, [30, 70]),
        ([10, 20], 1, 2, [10, 20]),
        ([100, 200], 2, 4, [50, 50, 100, 100]),
        # Of 300 ms: a second ends after a third of the fourth.
        ([30, 30, 30, 60, 60, 60, 60], 0.3, 2.1, [30 + 30 + 30 + 20, 40 + 60 + 60 + 40]),
        ([6, 6], 0.15, 0.3, [40]),
        # The window ends within the last sample, or a moment before or after a whole second.
        ([30], 1, 0.3, [100]),
        ([30, 30, 30, 60, 60, 60, 40], 0.3, 2, [30 + 30 + 30 + 20, 40 + 60 + 60 + 40]),
        ([10, 20], 1, 1.9999, [10, 20]),
        ([10, 20, 0], 1, 2.0001, [10, 20]),
        ([], 1, 1, []),
    ],
)
def test_samples_of_any_length_become_seconds(
    counts: list[int], interval_s: float, window_s: float, expected: list[float]
) -> None:
    assert _per_second(counts, interval_s, window_s) == pytest.approx(expected)
