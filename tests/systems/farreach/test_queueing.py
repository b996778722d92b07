"""M/D/1, by its formula and by a simulation that knows none."""

from __future__ import annotations

import random

import pytest

from turntable.systems.farreach.queueing import mean_wait_s


@pytest.mark.parametrize(("load", "milliseconds"), [(0.5, 0.5), (0.75, 1.5), (0.9, 4.5)])
def test_mean_wait_at_a_thousand_operations_per_second(load: float, milliseconds: float) -> None:
    assert mean_wait_s(load, 1000) == pytest.approx(milliseconds / 1000)


def test_no_wait_is_the_mean_where_the_queue_grows() -> None:
    assert mean_wait_s(1.0, 1000) is None


def test_mean_wait_of_a_simulated_queue() -> None:
    # A request waits for what the one before waited, and its service, less the time between them.
    draws, wait, total, count = random.Random(3), 0.0, 0.0, 400_000
    for _ in range(count):
        wait = max(0.0, wait + 0.001 - draws.expovariate(750))
        total += wait
    expected = mean_wait_s(0.75, 1000)
    assert expected is not None
    assert total / count == pytest.approx(expected, rel=0.03)
    assert total / count != pytest.approx(0.75 / 1000 / 0.25, rel=0.3)  # M/M/1: twice as long
