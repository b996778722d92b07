"""What an open loop offers, on numbers small enough for paper and pencil."""

from __future__ import annotations

import pytest

from turntable_core.errors import TurntableError
from turntable_systems.farreach import idle_path, offered
from turntable_systems.farreach.checks import relaxation_s
from turntable_systems.farreach.prediction import Composition, Prediction, WriteThrough
from turntable_systems.farreach.rotation import iterations

REQUESTS = (0.2, 0.3, 0.1, 0.4)
# Without a cache servers get all requests: 1 / 0.4 = 2.5 servers' worth.
UNCACHED = Composition(REQUESTS, 2.5, 4.0)
# The switch takes half of partition 0's, a third of 1's, three quarters of 3's: 1 / 0.2 = 5.
CACHED = Composition((0.1, 0.2, 0.1, 0.1), 5.0, 2.0)


def prediction(trace: Composition = UNCACHED, **more: object) -> Prediction:
    return Prediction(3, trace, trace, requests=REQUESTS, **more)


def parameters(**more: object) -> dict[str, object]:
    every = {"method": "nocache", "workload": "workloada", "capacity_ops_per_s": 1000}
    return every | {"warmup_s": 0.5, "measure_s": 2} | more


def test_rates_of_a_share_without_a_cache() -> None:
    # 0.5 of 2,500 ops/s. Partition 3 gets 0.4 of it, 500, half of its server's capacity.
    half = parameters(target_share=0.5)
    assert offered.target_ops_per_s(half, prediction()) == 1250
    planned = offered.with_rates(iterations(4, 3), half, prediction())
    assert [offered.planned_ops_per_s(part) for part in planned] == pytest.approx(
        [500, 500 + 250, 500 + 375, 500 + 125]
    )
    loads = [offered.server_load(half, prediction(), partition) for partition in range(4)]
    assert loads == pytest.approx([0.25, 0.375, 0.125, 0.5])


def test_rates_of_a_share_with_a_cache() -> None:
    # 0.9 of 5,000: the rates are those of all requests, the servers' loads those of the misses.
    most = parameters(target_share=0.9)
    planned = offered.with_rates(iterations(4, 3), most, prediction(CACHED))
    assert [offered.planned_ops_per_s(part) for part in planned] == pytest.approx(
        [1800, 2700, 3150, 2250]
    )
    loads = [offered.server_load(most, prediction(CACHED), partition) for partition in range(4)]
    assert loads == pytest.approx([0.45, 0.9, 0.45, 0.45])


def test_a_target_in_operations_needs_no_capacity() -> None:
    absolute = parameters(target_ops_per_s=200_000, capacity_ops_per_s=0)
    planned = offered.with_rates(iterations(4, 3), absolute, prediction())
    assert [offered.planned_ops_per_s(part) for part in planned] == pytest.approx(
        [80_000, 120_000, 140_000, 100_000]
    )
    assert offered.server_load(absolute, prediction(), 3) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        # The least of an iteration is the bottleneck alone, 0.4 of all; the most 0.7.
        ({"target_ops_per_s": 124}, "target_ops_per_s: 124 gives iterations from 99.2 requests"),
        ({"target_share": 0.049}, "target_share: 0.049 gives iterations from 98 requests"),
        ({"target_ops_per_s": 5.8e7}, "to 1.015e\\+08 with the warm-up"),
    ],
)
def test_what_nobody_can_offer_or_measure_is_not_planned(
    given: dict[str, object], words: str
) -> None:
    with pytest.raises(TurntableError, match=words):
        offered.with_rates(iterations(4, 3), parameters(**given), prediction())
    almost = parameters(target_ops_per_s=125)
    assert offered.with_rates(iterations(4, 3), almost, prediction())


def test_a_share_of_no_maximum_is_not_planned() -> None:
    """The switch answers everything."""
    nothing = Composition((0.0, 0.0, 0.0, 0.0), None, None)
    of_all = parameters(target_share=0.5, method="farreach")
    with pytest.raises(TurntableError, match=r"limits farreach.*maximum_ops_per_s"):
        offered.with_rates(iterations(4, 3), of_all, prediction(nothing))
    given = of_all | {"maximum_ops_per_s": 10_000}
    assert offered.with_rates(iterations(4, 3), given, prediction(nothing))


def test_a_maximum_that_was_measured_is_taken() -> None:
    given = parameters(target_share=0.5, maximum_ops_per_s=1_417_000, capacity_ops_per_s=0)
    assert offered.target_ops_per_s(given, prediction()) == 708_500


def test_the_artifacts_formula_gives_the_same() -> None:
    """weight * (X(i,b) + X(i,r)) with weight = target / aggregate, of an unthrottled run that
    shows the traces' shares: X(p) = share(p) * aggregate.
    """
    aggregate, target = 2500.0, 1250.0
    rates = [share * aggregate for share in REQUESTS]
    theirs = [target / aggregate * (rates[3] + rates[other]) for other in (0, 1, 2)]
    planned = offered.with_rates(iterations(4, 3), parameters(target_share=0.5), prediction())
    assert [offered.planned_ops_per_s(part) for part in planned[1:]] == pytest.approx(theirs)


def test_the_maximum_of_a_write_through_cache_is_that_of_its_model() -> None:
    # Bottleneck 1.0 at its server and 0.5 at the switch, beside it 0.5 and 0.25: 1.5 + 0.75.
    steady = WriteThrough(0.0, ((0.5, 1.0, 0.0, 0.0), (0.5, 1.0, 0.25, 0.5)))
    # The rotated one is the busier: mean 1.35, total 1.35 + 1.2 * 1.35 / 1.2 = 2.7; busiest
    # 1.0 * 0.9 / 0.8 = 1.125 where a saturated one does 1.0: 2.7 / 1.125 = 2.4.
    other = WriteThrough(1.0, ((0.5, 1.0, 0.0, 0.0), (0.4, 0.8, 0.2, 1.0)))
    made = prediction(write_through=(steady, other))
    netcache = parameters(method="netcache", target_share=1)
    assert offered.maximum_units(netcache, made) == pytest.approx(2.25)
    # u c = 0.001 s * 1,000 ops/s = 1.
    slow = netcache | {"value_update_delay_us": 1000}
    assert offered.maximum_units(slow, made) == pytest.approx(2.4)
    assert offered.server_load(netcache, made, 3) is None


def test_closed_loops_have_no_rates_and_no_parameters_of_open_ones() -> None:
    closed = parameters(target_share=0, target_ops_per_s=0)
    assert offered.with_rates(iterations(4, 3), closed, prediction()) == iterations(4, 3)
    assert offered.meaningless(closed) == offered.OF_OPEN_LOOPS
    assert offered.meaningless(parameters(target_share=0.5)) == {"target_ops_per_s"}


def test_probes_of_the_path_take_turns() -> None:
    # Twice a service time of 1 ms, and 1 ms for the way: every 3 ms, each of two machines every 6.
    asked = parameters(path_probes=40)
    assert idle_path.length_s(asked, machines=2) == pytest.approx(0.24)
    assert idle_path.of_machine(asked, machine=1, machines=2) == {
        "load_offset_ns": 240_000_000,
        "probes": 40,
        "probe_offset_ns": 3_000_000,
        "probe_period_ns": 6_000_000,
    }
    assert idle_path.of_machine(parameters(), machine=1, machines=2) == {"load_offset_ns": 0}


def test_busy_queues_take_longer_to_settle() -> None:
    # 4 * load / (c (1 - load)^2).
    assert relaxation_s(parameters(target_share=0.5)) == pytest.approx(0.008)
    assert relaxation_s(parameters(target_share=0.9)) == pytest.approx(0.36)
    assert relaxation_s(parameters(target_share=1.2)) == 0
