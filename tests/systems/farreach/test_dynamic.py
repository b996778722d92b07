"""Popularity that changes: what is planned and asked, and what seconds, tables and verdict make of
numbers that are made up.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from turntable.measurement import Event
from turntable.systems.farreach import dynamic
from turntable.systems.farreach.raw import _popularity_spread_s
from turntable.systems.farreach.seconds import Second, read_seconds
from turntable_core import components, timeline
from turntable_core import testbed as inventory
from turntable_core.components import timeline as timeline_component
from turntable_core.context import Context
from turntable_core.errors import InputError
from turntable_core.spec import Scale
from turntable_systems.farreach import SYSTEM, admission, popularity, rotation
from turntable_systems.farreach.checks import CHECKS
from turntable_systems.farreach.popularity import Period, Popularity
from turntable_systems.farreach.prediction import Prediction

from .plans import EVEN, make_plan
from .test_verdict import HALF_AS_MUCH, judged, measurement
from .testbeds import GROUPS, hostvars

PLAN = {"pattern": "hotin", "hot_list": 2, "changes": [{"keys": [7]}, {"keys": [8]}]}
# Nothing is cached in the first moment but a tenth; then half of all requests.
BEFORE = Period((0.5, 0.5), (0.25, 0.25), (0.25, 0.25))
AFTER = Period((0.5, 0.5), (0.05, 0.05), (0.25, 0.25))
CHANGING = Popularity(PLAN, (BEFORE, AFTER, AFTER))
UNAFFECTED = Popularity(PLAN, (BEFORE, BEFORE, BEFORE))


def prediction(changes: Popularity) -> Prediction:
    return replace(HALF_AS_MUCH, popularity=changes)


# ---------------------------------------------------------------------------------- plan and nodes


@pytest.fixture
def testbed() -> inventory.Testbed:
    return inventory.read_testbed(hostvars(), GROUPS)


def context_of(testbed: inventory.Testbed, scale: Scale) -> Context:
    plan = make_plan(scale, Prediction(2, EVEN, EVEN, popularity=CHANGING))
    events = timeline.read([{"at_s": 3.5, "popularity": 1}, {"at_s": 6, "popularity": 2}])
    turn = plan.turns[0]
    return Context(
        testbed, replace(plan, timeline=events), turn, turn.iterations[3], 10_000_000_000
    )


def test_all_client_hosts_change_at_the_same_instants(
    testbed: inventory.Testbed, scale: Scale
) -> None:
    batches = components.batches(["timeline"], "begin", context_of(testbed, scale))
    told = {host: sent[0].args["events"] for host, sent in batches.items()}
    assert told["client0"] == told["client1"]
    assert [event["at_ns"] for event in told["client0"]] == [13_500_000_000, 16_000_000_000]
    assert told["client0"][1]["requests"] == [
        {"node": "kvclient", "command": "popularity", "args": {"period": 2}}
    ]
    assert told["server0"] == told["switch0"] == []


@pytest.mark.parametrize("value", [8, -1, "hotin", 1.5, True])
def test_a_period_that_there_is_not_is_refused(
    testbed: inventory.Testbed, scale: Scale, value: object
) -> None:
    plan = make_plan(scale)
    events = timeline.read([{"at_s": 1, "popularity": value}], lambda _: "file:7")
    with pytest.raises(InputError, match=r"file:7: timeline\.popularity.*0 .* to 7"):
        timeline_component.check(events, plan.cells, SYSTEM, testbed)
    fine = timeline.read([{"at_s": 1, "popularity": 7}])
    timeline_component.check(fine, plan.cells, SYSTEM, testbed)


def test_clients_are_told_the_keys_before_they_begin(
    testbed: inventory.Testbed, scale: Scale
) -> None:
    batches = components.batches(["kvclient"], "prepare", context_of(testbed, scale))
    assert [batches[host][0].args["popularity"] for host in ("client0", "client1")] == [PLAN, PLAN]


def test_without_a_rotation_all_partitions_run_at_once() -> None:
    (only,) = rotation.all_at_once(2, 1)
    assert (only.index, only.label, only.data) == (0, "partitions 1+0", {"partitions": [1, 0]})


@pytest.mark.parametrize(
    ("parameters", "wrong"),
    [
        ({"rotation": False, "servers": 2}, []),
        ({"rotation": False, "servers": 4}, ["rotation"]),
        ({"pattern": "hotin", "servers": 2}, ["pattern"]),
        ({"pattern": "hotin", "rotation": False, "servers": 2, "hot_list": 99}, ["hot_list"]),
        ({"pattern": "hotin", "rotation": False, "servers": 2, "hot_list": 100}, []),
        ({"hot_list": 1, "servers": 4}, []),  # nothing changes
    ],
)
def test_parameters_that_do_not_fit(
    testbed: inventory.Testbed, parameters: dict, wrong: list[str]
) -> None:
    made = {"cache_size": 100, "keys_changed": 20} | parameters
    asked = ("rotation", "pattern", "hot_list")
    found = [c.parameter for c in CHECKS if c.parameter in asked and c.expected(made, testbed)]
    assert found == wrong


def threshold(rate_of: float | None, **parameters: object) -> int:
    made = {"admission": True, "capacity_ops_per_s": 5000} | parameters
    return admission.hot_threshold(made, Prediction(0, EVEN, EVEN, cached_normalized=rate_of))


def test_the_hot_threshold_scales_with_the_rate() -> None:
    # 20 at the paper's 210,000 operations per second.
    assert threshold(42.0) == 20
    assert threshold(3.29) == 2  # 16,450 / 210,000 of 20 is 1.57
    assert threshold(0.1) == 1  # at least one request
    assert threshold(3.29, hot_threshold=7) == 7
    assert threshold(3.29, admission=False) == 20
    assert threshold(3.29, capacity_ops_per_s=0) == 20  # a rack's rate is not known before


def test_a_plan_keeps_what_the_analyzer_says() -> None:
    document = {
        "popularity": PLAN,
        "scales": [{"trace": {"periods": [{"shares": [0.5, 0.5], "kept": [0.1, 0.1],
                                           "cached": [0.2, 0.3]}]}}],
    }  # fmt: skip
    made = popularity.from_analyzer(document, absorbed=0.5)
    assert made == Popularity(PLAN, (Period((0.5, 0.5), (0.05, 0.05), (0.1, 0.15)),))
    assert made.periods[0].normalized(adapted=False) == pytest.approx(1 / 0.45)
    assert made.periods[0].normalized(adapted=True) == pytest.approx(1 / 0.4)
    assert made.periods[0].hit_share(adapted=True) == pytest.approx(0.25)


# ------------------------------------------------------------------------------------------ seconds


def client(*seconds: dict[int, tuple[int, int, int, int]]) -> dict:
    """seconds: partition -> (by server, by switch, sum of latencies in ns, longest)."""
    fields = ("server_ops", "switch_ops", "latency_sum_ns", "latency_max_ns")
    rows = [
        {
            "second": number,
            "partitions": [
                {"partition": partition, **dict(zip(fields, values, strict=True))}
                for partition, values in counts.items()
            ],
        }
        for number, counts in enumerate(seconds)
    ]
    return {"window_ns": len(seconds) * 1e9, "seconds": rows}


def test_a_second_has_the_figures_of_the_paper() -> None:
    (second,) = read_seconds(
        [
            client({0: (40, 10, 2_000_000, 90_000), 1: (30, 0, 0, 0)}),
            client({0: (10, 40, 3_000_000, 70_000), 1: (10, 0, 600_000, 20_000)}),
        ]
    )
    assert second.total == 140
    assert second.normalized == 140 / 50
    assert second.imbalance == 50 / 40
    assert second.latency_mean_us == {0: 50.0, 1: 15.0}
    assert second.latency_max_us == {0: 90.0, 1: 20.0}


def test_a_second_without_answers_has_no_ratios() -> None:
    (second,) = read_seconds([client({0: (0, 0, 0, 0), 1: (0, 0, 0, 0)})])
    assert (second.normalized, second.imbalance) == (None, None)
    assert second.latency_mean_us == {0: None, 1: None}


# ------------------------------------------------------------------------------------------ changes


def played(*rates: float, at: tuple[float, ...] = (4.001,), **changes: object):
    """A window of seconds with this normalized throughput."""
    seconds = tuple(
        Second(k, {3: rate / 2, 0: rate / 2}, {3: 1, 0: 0.9}) for k, rate in enumerate(rates)
    )
    events = tuple(
        Event(at_s + late, f"popularity {k + 1}") for k, at_s in enumerate(at) for late in (0, 0.01)
    )
    made = measurement(
        seconds=float(len(rates)), each_second=seconds, events=events, popularity_spread_s=0.01
    )
    return replace(made, **changes)


def test_a_fall_and_its_return_are_measured_from_the_change() -> None:
    (change,) = dynamic.changes(played(100, 90, 98, 102, 80, 94, 96, 100), CHANGING)
    assert (change.period, change.before, change.level, change.lowest) == (1, 100, 100, 80)
    assert change.at_s == pytest.approx(4.011)  # of the last host
    assert change.dip == pytest.approx(0.2)
    assert change.return_s == 2  # 94 is more than 5 % below
    assert change.predicted_dip == pytest.approx(1 - 0.25 / 0.45)


@pytest.mark.parametrize(
    ("at_s", "rates", "return_s"),
    [
        (3.97, (100, 100, 100, 100, 80, 100), 1),  # just before a full second
        (4.6, (100, 100, 100, 100, 97, 80, 100), 2),  # the next one is the lowest
        (4.0, (100, 100, 100, 100, 96, 100), 0),  # no fall beyond the bound
        (4.0, (100, 100, 100, 100, 80, 90), None),
        (4.0, (100, 100, 100, 100), None),  # no second after it
    ],
)
def test_when_throughput_is_back(
    at_s: float, rates: tuple[float, ...], return_s: int | None
) -> None:
    (change,) = dynamic.changes(played(*rates, at=(at_s - 0.01,)), CHANGING)
    assert change.return_s == return_s


def test_one_change_does_not_reach_into_the_next() -> None:
    first, second = dynamic.changes(played(100, 100, 80, 90, 70, 100, at=(2, 4)), CHANGING)
    assert (first.return_s, first.lowest) == (None, 80)
    assert (second.before, second.lowest, second.return_s) == (90, 70, 1)


def test_before_a_change_is_when_the_one_before_is_over() -> None:
    _, second = dynamic.changes(played(100, 80, 90, 96, 98, 70, 100, at=(1, 5)), CHANGING)
    assert second.before == 97
    _, second = dynamic.changes(played(100, 80, 90, 96, 70, 100, at=(1, 4)), CHANGING)
    assert second.before == 96


def test_other_hot_keys_may_change_what_servers_can_do() -> None:
    # The busier server has 0.5 of the requests before and 0.6 after; nothing is cached.
    before, after = (Period(shares, (0, 0), (0, 0)) for shares in ((0.5, 0.5), (0.4, 0.6)))
    predicted = Popularity(PLAN, (before, after))
    (change,) = dynamic.changes(played(100, 100, 100, 100, 84, 83), predicted)
    assert change.level == pytest.approx(100 * 0.5 / 0.6)
    assert change.return_s == 0


def test_changes_before_the_window_and_failed_ones_do_not_count() -> None:
    made = played(100, 100)
    early, failed = Event(-0.1, "popularity 1"), Event(1.0, "popularity 2", error="no such period")
    assert dynamic.changes(replace(made, events=(early, failed)), CHANGING) == []


# ------------------------------------------------------------------------------------------ verdict


def of(made: object, changes: Popularity = CHANGING) -> str:
    found = judged(
        made, prediction=prediction(changes), pattern="hotin", bounds=BOUNDS, admission=True
    )
    return str(found)


BOUNDS = {
    "change_spread_s_max": 0.1, "returned_within": 0.05, "return_s_max": 2, "dip_min": 0.03,
    "busiest_utilization": [0.5, 2], "busy_share_min": 0,
}  # fmt: skip


def test_the_papers_shape_is_valid() -> None:
    assert "change" not in of(played(100, 100, 100, 100, 85, 94, 98))
    assert "change" not in of(played(100, 100, 100, 100, 99, 101, 98), UNAFFECTED)


def test_a_change_that_nobody_sees_was_none() -> None:
    assert "change 1 at 4.0 s: throughput fell by 1.0% only, although the first moment costs" in of(
        played(100, 100, 100, 100, 99, 100)
    )


def test_throughput_that_returns_late_or_never() -> None:
    assert "took 3 s to within 5% of before (expected at most 2 s)" in of(
        played(100, 100, 100, 100, 80, 85, 90, 100)
    )
    assert "did not return to within 5%" in of(played(100, 100, 100, 100, 80, 85, 90))


def test_a_fall_without_a_reason() -> None:
    assert "fell by 20.0%, although the switch keeps all but 0.0%" in of(
        played(100, 100, 100, 100, 80, 100), UNAFFECTED
    )


def test_hosts_that_change_apart() -> None:
    assert "client hosts began a period at instants so far apart (s): up to 0.2" in of(
        played(100, 100, 100, 100, 85, 100, popularity_spread_s=0.2)
    )


def test_hosts_that_did_not_all_change_are_infinitely_far_apart() -> None:
    def told(*instants: int) -> dict:
        return {"popularity": [{"period": k, "at_ns": at} for k, at in enumerate(instants, 1)]}

    assert _popularity_spread_s([told(5_000_000, 9_000_000), told(7_000_000, 8_000_000)]) == 0.002
    assert _popularity_spread_s([told(5), told(5, 6)]) == float("inf")
    assert _popularity_spread_s([{}, {}]) is None
    assert _popularity_spread_s([told(), told()]) == 0


def test_shares_of_changed_keys_are_no_promise() -> None:
    found = judged(
        played(100, 100, 100, 100, 85, 100), prediction=prediction(CHANGING), pattern="hotin"
    )
    assert found.not_checked["composition"] == "popularity changes"


def test_utilization_is_of_the_busier_server_of_every_second() -> None:
    # Each server is the busier one for half of the time.
    seconds = tuple(
        Second(k, {3: 1000, 0: 1000}, {3: 1000 - 100 * (k % 2), 0: 900 + 100 * (k % 2)})
        for k in range(4)
    )
    made = measurement(950, each_second=seconds)
    assert made.busiest_ops_per_s == 950
    assert replace(made, popularity_spread_s=0.0).busiest_ops_per_s == 1000
