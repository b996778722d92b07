"""Latency at target throughputs: what is read, judged and made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf

import pytest

from turntable.systems.farreach import offered_latency, state
from turntable.systems.farreach.measurement import (
    ClientPartition,
    LogicalServer,
    Measurement,
    SwitchPartition,
)
from turntable.systems.farreach.open_loop import (
    Latencies,
    OpenLoop,
    OpenPartition,
    read_open_loop,
)
from turntable.systems.farreach.rules import RULES
from turntable.systems.farreach.state import SATURATED, STEADY
from turntable.systems.farreach.summary import weighted_partitions
from turntable.verdict import Case, judge
from turntable_systems.farreach import SYSTEM
from turntable_systems.farreach.prediction import Composition, Prediction

from .statistics import client_stats, encoded
from .test_verdict import BOUNDS, measurement

# Two partitions with 3/5 and 2/5 of the requests: 5/3 servers' worth, 1,000 ops/s each. At 0.75 of
# that 1,250 ops/s are offered: 750 and 500.
TRACE = Composition((0.6, 0.4), 5 / 3, 1.5)
PREDICTION = Prediction(0, TRACE, TRACE, requests=(0.6, 0.4))
PARAMETERS = {
    "method": "nocache", "workload": "workloada", "servers": 2, "target_share": 0.75,
    "capacity_ops_per_s": 1000, "clients": 30, "warmup_s": 0.4,
}  # fmt: skip
MS = 1_000_000


def part(offered: int, mean_ms: float, idle_ms: float = 1.1) -> OpenPartition:
    return OpenPartition(
        offered=offered,
        server=Latencies(offered, round(offered * mean_ms * MS)),
        switch=Latencies(),
        idle_server=Latencies(10, round(10 * idle_ms * MS)),
        idle_switch=Latencies(),
        idle_server_texts=(encoded(round(1.1 * MS), 10),),
        from_send_sum_ns=round(offered * (mean_ms - 0.02) * MS),
        from_send=(encoded(round((mean_ms - 0.02) * MS), offered),),
    )


def loop(partitions: Mapping[int, OpenPartition], **changes: object) -> OpenLoop:
    offered = sum(p.offered for p in partitions.values())
    mean_ms = sum(p.server.sum_ns for p in partitions.values()) / offered / MS
    half = (encoded(round(mean_ms * MS), offered // 2),)
    made = OpenLoop(
        partitions=partitions,
        offered=offered,
        delivered=offered,
        lost=0,
        unsent=0,
        withheld=0,
        first_half=half,
        second_half=half,
        send_late=(encoded(20_000, offered),),
        send_late_max_us=20.0,
    )
    return replace(made, **changes)


def opened(iteration: int, partitions: Mapping[int, OpenPartition], **changes: object) -> object:
    def client(offered: int) -> ClientPartition:
        return ClientPartition(offered, 0, offered, offered, 0, (), latency_count=offered)

    def server(partition: int, offered: int) -> LogicalServer:
        return LogicalServer(
            partition, float(offered), offered / 1000, 0, offered, forgiven_us=0.0, blocked_us=0.0
        )

    base = measurement()
    assert isinstance(base, Measurement)
    made = replace(
        base,
        iteration=iteration,
        partitions=tuple(partitions),
        clients={p: client(row.offered) for p, row in partitions.items()},
        servers=tuple(server(p, row.offered) for p, row in partitions.items()),
        switch={p: SwitchPartition(row.offered, row.offered) for p, row in partitions.items()},
        in_flight_at_stop=0,
        client_threads=replace(base.client_threads, late_max_us=100.0),
        switch_thread=replace(base.switch_thread, late_max_us=100.0),
        open_loop=loop(partitions),
    )
    return replace(made, **changes)


def two(**changes: object) -> list[object]:
    """Bottleneck: 1,500 requests of 2.6 and 2.7 ms; idle ones take 1.1 ms."""
    return [
        opened(0, {0: part(740, 2.6)}, **changes),
        opened(1, {0: part(760, 2.7), 1: part(500, 1.6)}),
    ]


def case(measurements: list[object], **parameters: object) -> Case:
    return Case(measurements, len(measurements), BOUNDS, PARAMETERS | parameters, "emulated",
                PREDICTION)  # fmt: skip


def test_an_open_loop_in_order_is_valid() -> None:
    assert str(judge(RULES, case(two()))) == "valid"


# What the measurement of iteration 0 differs in, and the rule that it breaks.
BROKEN = [
    ({"open_loop": loop({0: part(740 + 150, 2.6)})}, "clients offered another load than planned"),
    (
        {"open_loop": loop({0: part(740, 2.6)}, delivered=700, lost=40)},
        "not as much was delivered as was offered",
    ),
    (
        {"open_loop": loop({0: part(740, 2.6)}, send_late=(encoded(300_000, 740),))},
        "requests were sent late (p99, µs): up to 300",
    ),
    ({"open_loop": loop({0: part(740, 2.6)}, withheld=2)}, "withheld by outstanding_max"),
    # 1.2 ms where half of the probes took at most 1.1.
    ({"open_loop": loop({0: part(740, 2.6, idle_ms=1.2)})}, "the idle path was disturbed"),
    # 10 ms of the 260 that its load leaves.
    (
        {"servers": (LogicalServer(0, 740.0, 0.74, 0, 740, forgiven_us=10_000.0, blocked_us=0.0),)},
        "servers waited for a processor or their store (share of the time their load leaves): up "
        "to 0.0385",
    ),
]


@pytest.mark.parametrize(("changes", "reason"), BROKEN)
def test_each_rule_of_open_loops_is_broken_alone(changes: dict, reason: str) -> None:
    reasons = judge(RULES, case(two(**changes))).reasons
    assert len(reasons) == 1, reasons
    assert reason in reasons[0]


def test_a_stall_costs_its_half_for_all_that_comes_meanwhile() -> None:
    # 20 ms of a second: 0.02 * 10 ms on average = 0.2 ms, by the 0.26 that the load leaves: 0.769
    # ms of 2.6.
    stalled = two()
    thread = replace(stalled[0].client_threads, late_max_us=20_000.0)
    stalled[0] = replace(stalled[0], client_threads=thread)
    (reason,) = judge(RULES, case(stalled)).reasons
    assert "clients stalled, which makes latencies longer" in reason
    assert "up to 0.296" in reason


def test_rules_of_closed_loops_are_none_of_open_ones_and_the_other_way_round() -> None:
    # A busier server at 0.75 of its capacity is a fault in a closed loop only.
    closed = {name: value for name, value in PARAMETERS.items() if name != "target_share"}
    broken = judge(RULES, replace(case(two()), parameters=closed))
    assert "the servers were not the bottleneck" in str(broken)
    assert "offered another load" not in str(broken)


def test_waits_are_what_the_idle_path_does_not_explain() -> None:
    row = offered_latency.columns(case(two()))
    # (740 * 2.6 + 760 * 2.7) / 1500 = 2.65067 ms, less 1.1.
    assert row["wait_us"] == pytest.approx(1550.67, abs=0.01)
    assert row["path_us"] == pytest.approx(100)  # 1.1 ms less a service time
    assert row["predicted_wait_us"] == pytest.approx(1500)  # 0.75 / (2 * 1000 * 0.25) s
    assert row["busiest_load"] == pytest.approx(0.75)
    # Partition 1's server has a load of 0.5: 0.5 ms. 0.6 * (1.1 + 1.5) + 0.4 * (1.1 + 0.5).
    assert row["predicted_latency_mean_us"] == pytest.approx(2200)
    assert row["target_ops_per_s"] == pytest.approx(1250)
    assert row["offered_ops_per_s"] == pytest.approx(750 + 500)
    assert (row["state"], row["delivered_share"]) == (STEADY, 1)
    # Half of the bottleneck's 1,500 requests count, all of partition 1's.
    expected = (740 * 2.58 / 2 + 760 * 2.68 / 2 + 500 * 1.58) / (750 + 500)
    assert row["latency_from_send_mean_us"] == pytest.approx(expected * 1000)


def test_closed_loops_have_none_of_these_values() -> None:
    closed = replace(case([measurement()]), parameters=PARAMETERS | {"target_share": 0})
    assert set(offered_latency.columns(closed).values()) == {None}


def test_rotated_histograms_are_not_scaled_in_open_loops() -> None:
    weights = [weight for _, weight in weighted_partitions(two())]
    assert weights == [0.5, 0.5, 1.0]


def state_of(one: Case) -> str | None:
    return state.state_of(one.measurements, one.parameters)


def test_saturated_where_answers_come_too_late_or_queues_grow() -> None:
    late = two(open_loop=loop({0: part(740, 2.6)}, delivered=600))
    assert state_of(case(late)) == SATURATED
    lost = two(open_loop=loop({0: part(740, 2.6)}, delivered=600, lost=140))
    assert state_of(case(lost)) == STEADY
    short, long = (encoded(2 * MS, 60_000),), (encoded(4 * MS, 60_000),)
    growing = two(open_loop=loop({0: part(740, 2.6)}, first_half=short, second_half=long))
    assert state_of(case(growing)) == SATURATED


def test_a_saturated_cell_may_deliver_less() -> None:
    late = two(open_loop=loop({0: part(740, 2.6)}, delivered=600))
    assert "delivered" not in str(judge(RULES, case(late)))


def test_what_a_saturated_cells_queues_still_hold_is_no_loss() -> None:
    """Clients went when 40 of 740 were still to be answered; the server answers 30 of them after.
    The bottleneck's share of both partitions is that of two servers at their ends: a half.
    """
    left = {
        "unanswered": 40,
        "clients": {0: ClientPartition(600, 0, 740, 700, 0, (), latency_count=600)},
        "servers": (replace(two()[0].servers[0], served_total=730),),
        "switch": {0: SwitchPartition(740, 730)},
    }
    halves = opened(1, {0: part(2000, 2.7), 1: part(2000, 1.6)})
    late = [two(open_loop=loop({0: part(740, 2.6)}, delivered=600), **left)[0], halves]
    assert "counters" not in (told := str(judge(RULES, case(late))))
    assert "unanswered" not in told
    assert "the traces promise" not in told
    told = str(judge(RULES, case([two(**left)[0], halves])))  # at a load that it can answer
    assert "730 answers in the switch, 700 at the clients" in told
    assert "requests stayed unanswered" in told
    assert "the traces promise" in told


def test_a_drain_waits_for_what_was_offered_beyond_the_maximum() -> None:
    """1.3 times what the busiest server can do, for 0.6 + 3 s: 0.3 * 3.6 s of its work are left."""
    windows = {"start_lead_ms": 0, "warmup_s": 0.6, "measure_s": 3, "drain_s": 1}
    for share, drain_s in ((0, 1), (0.9, 1), (1.3, 2.08)):
        assert SYSTEM.windows(windows | {"target_share": share}).drain_s == pytest.approx(drain_s)


def stats(partition: int, offered: int, latency_ms: int) -> dict:
    made = client_stats({partition: offered}, 1.0)
    row = made["partitions"][0]
    row["server_latency_sum_ns"] = offered * latency_ms * MS
    empty = {"server_path_count": 4, "server_path_sum_ns": 4 * MS, "from_send_ns": "x",
             "server_path_ns": "y",
             "switch_path_count": 0, "switch_path_sum_ns": 0}  # fmt: skip
    return made | {
        "open_loop": {
            "offered": offered, "delivered": offered - 1, "lost": 1, "unsent": 0, "withheld": 2,
            "halves": ["a", "b"], "send_late_ns": "c", "send_late_max_ns": offered * 1000,
            "partitions": [
                {"partition": partition, "offered": offered, "server_answered": offered,
                 "switch_answered": 0, "from_send_sum_ns": 7} | empty
            ],
        }
    }  # fmt: skip


def test_machines_add_up() -> None:
    read = read_open_loop([stats(3, 100, 2), stats(3, 300, 4)])
    assert read is not None
    assert (read.offered, read.delivered, read.lost, read.withheld) == (400, 398, 2, 4)
    assert read.partitions[3].server == Latencies(400, (200 + 1200) * MS)
    assert read.latencies.mean_us == 3500
    assert read.partitions[3].idle_server.mean_us == 1000
    assert read.first_half == ("a", "a")
    assert read.send_late_max_us == 300
    assert read_open_loop([client_stats({3: 10}, 1.0)]) is None
    assert read.send_late_max_us < inf
