"""The aggregation formulas (FarReach reference, section 6.3) on numbers small enough for paper and
pencil.
"""

from __future__ import annotations

import pytest

from turntable.systems.farreach.rotation import Placement, Rates, aggregate


def test_steady_bottleneck_adds_up() -> None:
    # No drift: total = 100 + 50 + 25 = 175; 175 / 100 = 1.75; imbalance 100 / 25 = 4.
    result = aggregate(
        0,
        [
            Placement(Rates(0, 100)),
            Placement(Rates(0, 100), 1, Rates(0, 50)),
            Placement(Rates(0, 100), 2, Rates(0, 25)),
        ],
    )
    assert (result.total, result.normalized, result.imbalance) == (175, 1.75, 4)


def test_rotated_partitions_are_scaled_by_the_bottlenecks_drift() -> None:
    # Xb = (120 + 100 + 80) / 3 = 100.
    # X'(1) = 50 * 100/100 = 50;  X'(2) = 40 * 100/80 = 50.  Total 200, normalized 200/100,
    # imbalance 100/50.
    result = aggregate(
        7,
        [
            Placement(Rates(0, 120)),
            Placement(Rates(0, 100), 1, Rates(0, 50)),
            Placement(Rates(0, 80), 2, Rates(0, 40)),
        ],
    )
    assert result.total == pytest.approx(200)
    assert result.partitions[2].server == pytest.approx(50)
    assert (result.normalized, result.imbalance) == (pytest.approx(2), pytest.approx(2))


def test_switch_and_server_parts_drift_on_their_own() -> None:
    # Wb = (30 + 10)/2 = 20, Sb = (90 + 110)/2 = 100, Xb = (120 + 120)/2 = 120.
    # Iteration 1: X = 60, scaled by 120/120 = 60. W' = 20 * 20/10 = 40, S' = 40 * 100/110 = 36.36.
    # Total = 120 + 60 = 180, busiest server max(100, 36.36) = 100 -> 1.8.
    result = aggregate(0, [Placement(Rates(30, 90)), Placement(Rates(10, 110), 1, Rates(20, 40))])
    assert result.total == pytest.approx(180)
    assert result.switch == pytest.approx(20 + 40)
    assert result.server == pytest.approx(100 + 40 * 100 / 110)
    assert result.normalized == pytest.approx(1.8)
    assert result.imbalance == pytest.approx(100 / (40 * 100 / 110))


def test_rates_are_not_floored() -> None:
    # The original's integer ops per millisecond would make 1,999 ops/s count as 1,000.
    result = aggregate(0, [Placement(Rates(0, 1999)), Placement(Rates(0, 1999), 1, Rates(0, 999))])
    assert result.total == 1999 + 999


def test_a_rotated_server_can_be_the_busiest() -> None:
    result = aggregate(0, [Placement(Rates(0, 80)), Placement(Rates(0, 80), 1, Rates(0, 100))])
    assert (result.normalized, result.imbalance) == (180 / 100, 100 / 80)


def test_idle_server_leaves_the_imbalance_undefined() -> None:
    result = aggregate(0, [Placement(Rates(0, 100)), Placement(Rates(0, 100), 1, Rates(10, 0))])
    assert result.imbalance is None
    assert result.normalized == pytest.approx(1.1)


def test_no_server_at_work_leaves_normalized_undefined() -> None:
    result = aggregate(0, [Placement(Rates(5, 0)), Placement(Rates(5, 0), 1, Rates(5, 0))])
    assert (result.normalized, result.imbalance) == (None, None)


def test_absolute_throughput_where_caching_moved_the_bottleneck() -> None:
    # With all three partitions at once server 1 limits, at 100 ops/s; servers 0 and 2 do 80 and 50,
    # the switch answers 120, 20 and 10: 230 + 150 = 380 ops/s. The rotation around partition 0 sees
    # it saturated (server 100, switch 150) except beside partition 1.
    result = aggregate(
        0,
        [
            Placement(Rates(150, 100)),
            Placement(Rates(120, 80), 1, Rates(20, 100)),
            Placement(Rates(150, 100), 2, Rates(12.5, 62.5)),
        ],
    )
    assert result.busiest_partition == 1
    assert result.absolute == pytest.approx(380)
    # The original's sum: Xb = 700/3; 700/3 * (1 + 120/200 + 75/250) = 443.3, too much by 1/6.
    assert result.total == pytest.approx(380 * 7 / 6)
    assert result.normalized == pytest.approx(3.8)


def test_absolute_throughput_is_the_total_where_the_bottleneck_stayed() -> None:
    drifting = [
        Placement(Rates(0, 120)),
        Placement(Rates(0, 100), 1, Rates(0, 50)),
        Placement(Rates(0, 80), 2, Rates(0, 40)),
    ]
    result = aggregate(7, drifting)
    assert (result.busiest_partition, result.absolute) == (7, pytest.approx(result.total))


def test_absolute_throughput_is_undefined_without_servers_at_work() -> None:
    assert aggregate(0, [Placement(Rates(5, 0))]).absolute is None
