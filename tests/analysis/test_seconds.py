"""Rates of single seconds, and curves of latency, on numbers made up for the purpose."""

from __future__ import annotations

import pytest

from turntable.histograms import Merged
from turntable.plot.latency import curve
from turntable.systems.farreach.seconds import read_seconds


def client(window_s: float, *seconds: dict[int, tuple[int, int]]) -> dict:
    """seconds: partition -> (answered by server, by switch)."""
    rows = [
        {
            "second": number,
            "partitions": [
                {"partition": partition, "server_ops": server, "switch_ops": switch}
                for partition, (server, switch) in counts.items()
            ],
        }
        for number, counts in enumerate(seconds)
    ]
    return {"window_ns": window_s * 1e9, "seconds": rows}


def test_clients_are_added_and_both_kinds_of_answers() -> None:
    (second,) = read_seconds([client(1.0, {3: (40, 2)}), client(1.0, {3: (50, 0), 1: (7, 0)})])
    assert second.second == 0
    assert second.ops_per_s == {3: 92, 1: 7}


def test_last_second_is_divided_by_its_length() -> None:
    first, last = read_seconds([client(1.8, {0: (100, 0)}, {0: (80, 0)})])
    assert first.ops_per_s == {0: 100}
    assert last.ops_per_s == {0: pytest.approx(100)}


def test_rest_of_a_window_is_too_short_for_a_rate_unless_it_is_all() -> None:
    assert len(read_seconds([client(1.001, {0: (100, 0)}, {0: (1, 0)})])) == 1
    (only,) = read_seconds([client(0.4, {0: (40, 0)})])
    assert only.ops_per_s == {0: pytest.approx(100)}


def test_curve_ends_at_one_and_is_thinned() -> None:
    xs, ys = curve(Merged((1.0, 2.0, 4.0), (1.0, 2.0, 1.0)))
    assert list(zip(xs, ys, strict=True)) == [(1, 0), (1, 0.25), (2, 0.75), (4, 1.0), (4, 1.0)]
    values = tuple(float(i) for i in range(1, 100_001))
    xs, ys = curve(Merged(values, (1.0,) * len(values)))
    assert len(xs) < 600
    assert xs[ys.index(min(ys, key=lambda y: abs(y - 0.5)))] == pytest.approx(50_000, rel=0.01)
