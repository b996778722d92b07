"""Verdicts: every rule can make a run invalid, with a reason that says by how much."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from turntable.measurement import Event, HostLoad, Punctuality
from turntable.systems.farreach.measurement import (
    ClientPartition,
    LogicalServer,
    Measurement,
    SwitchPartition,
)
from turntable.systems.farreach.rules import OF_MACHINE, RULES
from turntable.systems.farreach.rules.capacity import worst_utilization
from turntable.verdict import Case, Verdict, judge
from turntable_systems.farreach import SYSTEM
from turntable_systems.farreach.prediction import Composition, Prediction, WriteThrough

from .conftest import DOCUMENT, REPOSITORY

BOUNDS = DOCUMENT["validity"]


def client(ops: int, requests: int = 1100, answers: int = 1100) -> ClientPartition:
    return ClientPartition(
        server_ops=ops,
        switch_ops=0,
        requests_total=requests,
        answers_total=answers,
        latency_sum_ns=0,
        histograms=(),
    )


def server(partition: int, ops_per_s: float, **changes: object) -> LogicalServer:
    made = LogicalServer(
        partition,
        ops_per_s,
        busy_share=ops_per_s / 1000,
        socket_drops=0,
        served_total=1100,
        forgiven_us=200.0,
        blocked_us=300.0,
    )
    return replace(made, **changes)


def measurement(busier_ops_per_s: float = 1000, **changes: object) -> Measurement:
    """Bottleneck 3 at the given rate, partition 0 at half of it;

    capacity is 1,000 ops/s in these tests.
    """
    made = Measurement(
        iteration=1,
        partitions=(3, 0),
        seconds=1.0,
        clients={3: client(int(busier_ops_per_s)), 0: client(int(busier_ops_per_s / 2))},
        servers=(server(3, busier_ops_per_s), server(0, busier_ops_per_s / 2)),
        switch={3: SwitchPartition(1100, 1100), 0: SwitchPartition(1100, 1100)},
        retries=0,
        unanswered=0,
        in_flight_at_stop=64,
        client_socket_drops=0,
        start_lateness_us=15.0,
        errors={},
        overhead_s=0.4,
        end_lateness_us=100.0,
        client_threads=Punctuality(late_max_us=2000.0, wait_share=0.1),
        switch_thread=Punctuality(late_max_us=3000.0, wait_share=0.2),
        switch_drops={},
        hosts=(HostLoad("client0", steal_share=0.003, nic_drops=0),),
        contradictions=(),
    )
    return replace(made, **changes)


# What measurement() shows: partition 0 gets half as many requests as the bottleneck.
_SHARES = (0.2, 0.2, 0.2, 0.4)
HALF_AS_MUCH = Prediction(
    3, Composition(_SHARES, 2.5, 2.0), Composition(_SHARES, 2.5, 2.0), requests=_SHARES
)


def judged(
    *measurements: Measurement,
    expected: int | None = None,
    capacity: float = 1000,
    fidelity: str = "emulated",
    bounds: Mapping[str, object] = BOUNDS,
    prediction: Prediction | None = HALF_AS_MUCH,
    **parameters: object,
) -> Verdict:
    # 30 clients at 1,000 ops/s settle in 2 * 30 / 1,000 = 0.06 s of the warm-up, and queue for
    # 0.03 s.
    made = {
        "capacity_ops_per_s": capacity, "clients": 30, "warmup_s": 0.2, "method": "nocache",
        "workload": "workloada",
    }  # fmt: skip
    count = expected or len(measurements)
    case = Case(measurements, count, bounds, made | parameters, fidelity, prediction)
    return judge(RULES, case)


def verdict(*measurements: Measurement, **case: object) -> str:
    return str(judged(*measurements, **case))


def test_good_run_is_valid() -> None:
    assert verdict(measurement(), measurement(970), measurement(1030)) == "valid"


def test_servers_that_nothing_limits_are_not_measured_again() -> None:
    made = {"capacity_ops_per_s": 0, "method": "nocache", "workload": "workloada"}
    case = Case([measurement(0)], 1, BOUNDS, made, "emulated", None)
    again = {name: rule for name, rule in RULES.items() if name in OF_MACHINE}
    assert str(judge({name: again[name] for name in ("bottleneck", "lost capacity")}, case)) == (
        "valid"
    )
    assert "capacity_ops_per_s is 0" in verdict(measurement(0), capacity=0)


@pytest.mark.parametrize("rate", [969, 1031, 0])
def test_busier_server_away_from_its_capacity(rate: float) -> None:
    assert verdict(measurement(), measurement(rate)) == (
        "invalid: the servers were not the bottleneck: "
        f"the busier server ran at {rate / 1000:.3f} of its capacity "
        "in 1 of 2 iterations (expected 0.97 to 1.03)"
    )


def test_a_node_that_the_timeline_started_again_counts_from_then() -> None:
    half = measurement(switch={3: SwitchPartition(500, 500), 0: SwitchPartition(500, 500)})
    killed, started = Event(0.2, "kill switch0"), Event(0.5, "start switch0")
    assert "counters do not add up" in verdict(replace(half, events=(killed,)))
    found = judged(replace(half, events=(killed, started)))
    assert str(found) == "valid"
    assert found.not_checked["counters"] == "the timeline started nodes again in 1 of 1 iterations"
    # What one client counted by itself has no excuse.
    wrong = replace(half, events=(started,), contradictions=("client0: operations: 5, but 6",))
    assert "client0: operations: 5, but 6" in verdict(wrong)


def test_emulated_servers_without_capacity_cannot_be_the_bottleneck() -> None:
    text = verdict(measurement(90_000), capacity=0)
    assert text.startswith("invalid: the servers were not the bottleneck: capacity_ops_per_s is 0")


def test_real_servers_without_capacity_must_be_busy() -> None:
    idle = measurement(90_000, servers=(server(3, 90_000, busy_share=0.6),))
    assert verdict(measurement(90_000), capacity=0, fidelity="hardware") == "valid"
    assert "busy for 0.600 of the time in 1 of 1" in verdict(idle, capacity=0, fidelity="hardware")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"retries": 3},  # of 2,200 requests
            "requests were sent again (share of requests): up to 0.00136 in 1 of 2 iterations "
            "(at most 0.001)",
        ),
        (
            {"unanswered": 22},
            "requests stayed unanswered (share of requests): up to 0.01 in 1 of 2 iterations "
            "(at most 0.001)",
        ),
        (
            {"client_socket_drops": 11},
            "sockets dropped packets (share of requests): up to 0.005 in 1 of 2 iterations "
            "(at most 0.001)",
        ),
        (
            {"switch_drops": {"tx_queue_full": 10, "rx_queue_full": 1}},
            "the switch dropped packets, rx_queue_full, tx_queue_full (share of requests): "
            "up to 0.005 in 1 of 2 iterations (at most 0.001)",
        ),
        (
            {"hosts": (HostLoad("a", 0.0, 11), HostLoad("b", 0.0, 11))},
            "network interfaces dropped packets (share of requests): up to 0.01 "
            "in 1 of 2 iterations (at most 0.001)",
        ),
        (
            {"hosts": (HostLoad("a", 0.01, 0), HostLoad("b", 0.06, 0))},
            "processors of a host were stolen (share of their time): up to 0.06 "
            "in 1 of 2 iterations (at most 0.05)",
        ),
        (
            {"end_lateness_us": 20_000.0},
            "clients closed the window late (share of the window): up to 0.02 "
            "in 1 of 2 iterations (at most 0.01)",
        ),
        (
            # Half of the 30 ms for which the queues last, and 2 % of the window.
            {"switch_thread": Punctuality(35_000.0, 0.2)},
            "the switch stalled for longer than the queues last (share of the window): "
            "up to 0.02 in 1 of 2 iterations (at most 0.01)",
        ),
        (
            {"client_threads": Punctuality(35_000.0, 0.1)},
            "clients stalled for longer than the queues last (share of the window): "
            "up to 0.02 in 1 of 2 iterations (at most 0.01)",
        ),
        (
            {"switch_thread": Punctuality(3000.0, 0.7)},
            "the switch waited for a processor (share of the time): up to 0.7 "
            "in 1 of 2 iterations (at most 0.5)",
        ),
        (
            {"client_threads": Punctuality(3000.0, 0.6)},
            "clients waited for a processor (share of the time): up to 0.6 "
            "in 1 of 2 iterations (at most 0.5)",
        ),
        (
            {"servers": (server(3, 1000, forgiven_us=30_000.0, blocked_us=10_000.0),)},
            "servers waited for a processor or their store (share of their capacity): up to 0.04 "
            "in 1 of 2 iterations (at most 0.03)",
        ),
        (
            {"servers": (server(3, 1000), server(0, 480))},
            "clients and servers disagree on the rate (share of the busier server's): up to 0.02 "
            "in 1 of 2 iterations (at most 0.01)",
        ),
        (
            {"contradictions": ("client0: operations: 5, but 6 by partitions",)},
            "counters do not add up: client0: operations: 5, but 6 by partitions",
        ),
        (
            {"servers": (server(3, 1000, served_total=1050), server(0, 500, served_total=1200))},
            "counters do not add up: iteration 1, partition 3: "
            "1050 answers by the server, 1100 at the clients and 1 more",
        ),
        (
            {"start_lateness_us": 190_000.0},
            "clients started late (µs): up to 190000 in 1 of 2 iterations (at most 140000)",
        ),
        ({"errors": {"client wrong_values": 4}}, "errors were counted: client wrong_values 4"),
        (
            {"switch": {3: SwitchPartition(1098, 1100), 0: SwitchPartition(1100, 1100)}},
            "counters do not add up: iteration 1, partition 3: "
            "1098 requests in the switch, 1100 at the clients",
        ),
        (
            {"switch": {3: SwitchPartition(1100, 1102), 0: SwitchPartition(1100, 1000)}},
            "counters do not add up: iteration 1, partition 3: "
            "1102 answers in the switch, 1100 at the clients and 1 more",
        ),
    ],
)
def test_each_rule_is_a_reason(changes: dict, reason: str) -> None:
    assert verdict(measurement(), measurement(**changes)) == f"invalid: {reason}"


def test_drops_of_a_server_socket_count() -> None:
    servers = (server(3, 1000, socket_drops=11), server(0, 500))
    assert "sockets dropped packets (share of requests): up to 0.005" in verdict(
        measurement(servers=servers)
    )


@pytest.mark.parametrize(
    "changes",
    [
        # One of 2,200 packets; of 1,100 it is missing in a counter.
        {"retries": 1, "unanswered": 1, "client_socket_drops": 1},
        {"switch_drops": {"no_destination": 1}, "hosts": (HostLoad("a", 0.04, 1),)},
        {"switch": {3: SwitchPartition(1099, 1099), 0: SwitchPartition(1100, 1101)}},
        # Half of the time for which the queues last is forgiven, and 1 % of the window.
        {"switch_thread": Punctuality(24_900.0, 0.4)},
        # 60 % busy, 3.5 % lost: this server could make up for it.
        {"servers": (server(3, 1000), server(0, 500, forgiven_us=35_000.0))},
    ],
    ids=["single packets", "strays", "missing in counters", "short stall", "server with slack"],
)  # fmt: skip
def test_what_cannot_move_a_result_does_not_make_it_invalid(changes: dict) -> None:
    assert verdict(measurement(**changes)) == "valid"


def test_partition_that_the_switch_answers_too_leaves_less_to_the_server() -> None:
    cached = replace(client(1000), server_ops=600, switch_ops=400)
    servers = (server(3, 600, served_total=650), server(0, 500))
    assert "counters" not in verdict(
        measurement(clients={3: cached, 0: client(500)}, servers=servers)
    )


# What the raw files of the first version do not say, and what their plans did not bound.
UNKNOWN = {
    "end_lateness_us": None,
    "client_threads": Punctuality(),
    "switch_thread": Punctuality(),
    "switch_drops": None,
    "hosts": None,
    "contradictions": None,
    "servers": (server(3, 1000, forgiven_us=None), server(0, 500, served_total=None)),
}
NEEDS_DATA = (
    "lost capacity", "counters", "switch drops", "NIC drops", "late end", "steal", "switch stalls",
    "client stalls", "switch starved", "clients starved",
)  # fmt: skip


def test_rule_without_data_is_not_checked_and_says_so() -> None:
    result = judged(measurement(), measurement(**UNKNOWN))
    assert result.valid
    assert tuple(result.not_checked) == NEEDS_DATA
    assert set(result.not_checked.values()) == {"no data in the raw files of 1 of 2 iterations"}
    assert not judged(measurement()).not_checked


def test_what_the_switch_does_not_measure_is_said_with_the_reason() -> None:
    silent = {"thread": "it tells nothing", "drops": "it tells a part"}
    unknown = {"switch_thread": Punctuality(), "switch_not_measured": silent}
    result = judged(measurement(**unknown, switch_drops={}))
    assert result.valid
    assert result.not_checked == {
        "switch drops": "it tells a part",
        "switch stalls": "it tells nothing",
        "switch starved": "it tells nothing",
    }
    # The part that it tells is judged.
    lossy = judged(measurement(**unknown, switch_drops={"rx_queue_full": 11}))
    assert "the switch dropped packets, rx_queue_full" in str(lossy)
    assert lossy.not_checked["switch drops"] == "it tells a part"


def test_rule_without_data_in_one_iteration_is_still_broken_by_another() -> None:
    result = judged(measurement(hosts=None), measurement(hosts=(HostLoad("a", 0.5, 0),)))
    assert "stolen (share of their time): up to 0.5 in 1 of 2" in str(result)
    assert tuple(result.not_checked) == ("NIC drops", "steal")


def test_rule_without_a_bound_is_not_checked() -> None:
    old = {"busiest_utilization": [0.97, 1.03], "busy_share_min": 0.9, "retries_max": 0}
    result = judged(measurement(hosts=(HostLoad("a", 0.5, 0),)), bounds=old)
    assert result.valid
    assert "no bound" in result.not_checked["steal"]
    assert "retries" not in result.not_checked


def test_plan_without_a_bound_for_losses_allows_none() -> None:
    old = {"busiest_utilization": [0.97, 1.03], "busy_share_min": 0.9}
    assert "requests were sent again" in str(judged(measurement(retries=1), bounds=old))


def test_every_bound_is_that_of_a_rule() -> None:
    schema = json.loads(SYSTEM.schema.read_text())
    assert set(schema["$defs"]["validity"]["properties"]) == set(BOUNDS)
    analysis = REPOSITORY / "analysis" / "turntable"
    files = [
        analysis / "rules.py",
        analysis / "verdict.py",  # the share of losses that is allowed
        *(analysis / "systems" / "farreach" / "rules").glob("*.py"),
    ]
    source = "".join(file.read_text() for file in files)
    assert [name for name in BOUNDS if f'"{name}"' not in source] == []
    assert len(RULES) == 32


def test_missing_iterations_are_a_reason_and_not_a_crash() -> None:
    assert verdict(measurement(), expected=4) == "invalid: 3 of 4 iterations are missing"
    assert verdict(expected=4) == "invalid: 4 of 4 iterations are missing"


def test_reasons_are_listed_together() -> None:
    text = verdict(measurement(500, retries=11), expected=2)
    assert text.count(";") == 2
    assert all(
        part in text
        for part in ("1 of 2 iterations are missing", "not the bottleneck", "sent again")
    )


def test_worst_utilization_is_the_farthest_from_one() -> None:
    assert worst_utilization([measurement(990), measurement(1020), measurement(1001)], 1000) == 1.02
    assert worst_utilization([measurement(990)], 0) is None


def test_answers_of_the_switch_are_counted_too() -> None:
    # 1100 requests of each partition; the switch answered 300 of them all, the servers the others.
    switch = {3: SwitchPartition(1100, 1000), 0: SwitchPartition(1100, 900)}
    servers = (server(3, 1000, served_total=1000), server(0, 500, served_total=900))
    hits = {"switch": switch, "servers": servers, "switch_hits": 300}
    assert verdict(measurement(), measurement(**hits)) == "valid"
    assert verdict(measurement(), measurement(**hits | {"switch_hits": 290})) == (
        "invalid: counters do not add up: iteration 1: the switch gave 290 answers "
        "and forwarded 1900, but the clients got 2200"
    )


def test_the_cached_keys_must_stay_the_hottest_ones() -> None:
    same = measurement(cached_set=("0a", "0a"))
    other = measurement(cached_set=("0a", "0b"))
    assert verdict(measurement(), same) == "valid"
    assert verdict(measurement(), other) == (
        "invalid: the cached keys were not the hottest ones in iteration 1"
    )


def hitting(by_switch: int, ops: int = 10_000, **changes: object) -> Measurement:
    """The bottleneck alone, with so many of its operations answered by the switch."""
    alone = replace(client(ops - by_switch, ops, ops), switch_ops=by_switch)
    servers = (server(3, 1000, served_total=ops - by_switch),)
    counted = {3: SwitchPartition(ops, ops - by_switch)}
    made = measurement(
        iteration=0, partitions=(3,), clients={3: alone}, servers=servers, switch=counted,
        switch_hits=by_switch, seconds=(ops - by_switch) / 1000,
    )  # fmt: skip
    return replace(made, **changes)


# Of the requests for partition 3, half of all, 40 % are for cached keys.
MISSED = Composition((0.3, 0.1, 0.1, 0.3), 2.0, 3.0)
PROMISE = Prediction(3, MISSED, MISSED, requests=(0.3, 0.1, 0.1, 0.5))


def test_the_switch_answers_what_its_cached_keys_promise() -> None:
    # 4,000 of 10,000; standard error sqrt(0.4 * 0.6 / 10,000) = 0.49 %.
    for hits in (4000, 4240, 3760):
        assert verdict(hitting(hits), prediction=PROMISE, method="farreach") == "valid"
    assert verdict(hitting(4000), hitting(0), prediction=PROMISE, method="farreach") == (
        "invalid: the switch answered 0.00% of the requests in iteration 0, but its cached keys "
        "promise 40.00%: apart by 82 standard errors of this window (at most 5), in 1 of 2 "
        "iterations by more than that"
    )
    assert "apart by 5 " in verdict(hitting(4260), prediction=PROMISE, method="farreach")


def test_no_hits_are_promised_where_all_is_written_through() -> None:
    none = replace(PROMISE, requests=MISSED.shares)
    assert verdict(hitting(0), prediction=none, method="netcache") == "valid"
    assert "promise 0.00%" in verdict(hitting(60), prediction=none, method="netcache")


@pytest.mark.parametrize(
    "changes",
    [
        {"prediction": None},
        {"prediction": replace(PROMISE, requests=())},  # a plan of an older version
        {"admission": True},  # the cached set changes
        {"cache_prefill": False},  # the first GET of each key goes to its server
        {"workload": "workloadd"},  # the hottest keys are other ones all the time
        {"workload": "workload-load"},
        {"bounds": {k: v for k, v in BOUNDS.items() if k != "hit_share_errors_max"}},
    ],
)
def test_hits_without_a_promise_are_not_checked(changes: dict) -> None:
    case = {"prediction": PROMISE, "method": "farreach"} | changes
    result = judged(hitting(0), **case)
    assert result.valid
    assert "hit share" in result.not_checked


def updating(hits: int, **changes: object) -> Measurement:
    """With value updates that took 0.5 ms each: u c = 0.5."""
    made = hitting(hits)
    [alone] = made.servers
    fields = {"updates_sent": 100, "updates_acknowledged": 100, "update_round_trips_s": 0.05}
    return replace(made, servers=(replace(alone, **(fields | changes)),), switch_updates=100)


def test_hits_of_a_write_through_cache_are_those_of_the_model() -> None:
    # Between u c = 0 with 40 % and u c = 1 with 20 %.
    model = (
        WriteThrough(0, ((0.4, 0.6, 0, 0), *[(0, 1, 0, 1)] * 3)),
        WriteThrough(1, ((0.2, 0.8, 0, 0), *[(0, 1, 0, 1)] * 3)),
    )
    case = {"prediction": replace(PROMISE, write_through=model), "method": "netcache"}
    assert verdict(updating(3000), **case) == "valid"
    assert "promise 30.00%" in verdict(updating(4000), **case)
    unknown = judged(updating(3000, update_round_trips_s=1.0), **case)  # u c = 10
    assert (unknown.valid, tuple(unknown.not_checked)) == (
        True,
        ("hit share", "composition", "settled"),
    )


def test_hits_may_be_as_far_off_the_model_as_its_own_replays_are() -> None:
    # 33 % instead of 30 %: 6 standard errors of 10,000 draws, 3 of replays that are 1 % apart.
    rows = ((0.3, 0.7, 0, 0), *[(0, 1, 0, 1)] * 3)
    apart = tuple((deviation, 0.0) for deviation in (0.01, 0, 0, 0))
    for deviations, expected in (((), "promise 30.00%"), (apart, "valid")):
        model = (WriteThrough(0, rows, deviations), WriteThrough(1, rows, deviations))
        case = {"prediction": replace(PROMISE, write_through=model), "method": "netcache"}
        assert expected in verdict(updating(3300), **case)
        assert "promise 30.00%" in verdict(updating(4000), **case)


def test_of_the_models_spread_at_other_round_trips_the_largest_counts() -> None:
    # Of two ways to go on, which one it is depends on what the model does not have.
    rows = ((0.3, 0.7, 0, 0), *[(0, 1, 0, 1)] * 3)
    calm, torn = ((0.001, 0.0),) * 4, ((0.02, 0.0), *[(0.001, 0.0)] * 3)
    for spreads, expected in (((calm, calm), "promise 30.00%"), ((calm, torn), "valid")):
        model = tuple(WriteThrough(u, rows, spread) for u, spread in enumerate(spreads))
        case = {"prediction": replace(PROMISE, write_through=model), "method": "netcache"}
        assert expected in verdict(updating(3900), **case)


def test_value_updates_in_the_switch_are_those_sent() -> None:
    assert "value updates" not in verdict(updating(0, updates_sent=101))
    assert verdict(updating(0, updates_sent=140)) == (
        "invalid: counters do not add up: iteration 0: 100 value updates in the switch, "
        "140 sent by the servers"
    )


def test_time_held_back_by_value_updates_is_no_slack() -> None:
    held_back = {"held_back_us": 200_000.0, "held_back_share": 0.2, "blocked_us": 200_300.0}
    servers = (server(3, 800, **held_back), server(0, 400))
    slow = measurement(800, servers=servers)
    assert verdict(slow) == "valid"
    assert worst_utilization([slow], 1000) == pytest.approx(1)
    # The same without the method's part in it.
    stores = (server(3, 800, blocked_us=200_300.0), server(0, 400))
    assert "ran at 0.800 of its capacity" in verdict(measurement(800, servers=stores))


def sharing(rotated: int, bottleneck: int = 10_000, **changes: object) -> Measurement:
    """A window of 10 s in which servers answered so many requests of each partition."""
    made = measurement(
        clients={
            3: client(bottleneck, bottleneck, bottleneck),
            0: client(rotated, rotated, rotated),
        },
        servers=(
            server(3, bottleneck / 10, served_total=bottleneck),
            server(0, rotated / 10, served_total=rotated),
        ),
        switch={3: SwitchPartition(bottleneck, bottleneck), 0: SwitchPartition(rotated, rotated)},
        seconds=10.0,
    )
    return replace(made, **changes)


def shares(*of_partitions: float) -> Prediction:
    composition = Composition(of_partitions, 1 / max(of_partitions), None)
    return Prediction(3, composition, composition, requests=of_partitions)


def test_both_partitions_get_their_shares_of_the_traces() -> None:
    # 0.2 of 0.2 + 0.4: a third of 15,000; standard error sqrt(2/9 / 15,000) = 0.385 %.
    promise = shares(0.2, 0.2, 0.2, 0.4)
    for rotated in (5000, 5400, 4620):
        assert verdict(sharing(rotated), prediction=promise) == "valid"
    # With traces too short for every client to have requests of both, each keeps to its own.
    assert verdict(sharing(5000), sharing(10_000), prediction=promise) == (
        "invalid: 50.00% of what servers answered in iteration 1 was the rotated partition's, but "
        "the traces promise 33.33%: apart by 50 standard errors of this window (at most 5), in 1 "
        "of 2 iterations by more than that"
    )


def test_what_the_switch_answers_is_no_part_of_the_servers_composition() -> None:
    made = replace(shares(0.2, 0.2, 0.2, 0.4), requests=(0.4, 0.2, 0.2, 0.4))
    sent = sharing(5000)
    hits = replace(sent.clients[0], switch_ops=5000, requests_total=10_000, answers_total=10_000)
    switch = {3: SwitchPartition(10_000, 10_000), 0: SwitchPartition(10_000, 5000)}
    cached = replace(sent, clients={**sent.clients, 0: hits}, switch=switch, switch_hits=5000)
    assert verdict(cached, prediction=made, method="farreach") == "valid"


@pytest.mark.parametrize(
    ("clients", "warmup_s", "says"),
    [
        # 0.49 and 0.51: a queue of 0.49 n is drained with 1,000 (1 - 2 * 0.49) = 20 requests/s.
        (100, 2.4, None),  # gone after 2.45 s
        (100, 0.3, None),  # 2.15 s of the window of 10 s: 0.215 * (1 - 0.49/0.51) / 1.96
        (1000, 2.0, "2.0% (at most 1.0%)"),  # 24.5 s: all of it
    ],
)
def test_queues_of_the_beginning_must_be_gone(
    clients: int, warmup_s: float, says: str | None
) -> None:
    case = {"prediction": shares(0.49, 0, 0, 0.51), "clients": clients, "warmup_s": warmup_s}
    text = verdict(sharing(10_000), **case)
    if says is None:
        assert text == "valid"
    else:
        assert "the closed loop had not settled when the window began" in text
        assert says in text


def test_partitions_of_the_newest_keys_have_no_promised_shares() -> None:
    result = judged(sharing(10_000), prediction=shares(0.2, 0.2, 0.2, 0.4), workload="workloadd")
    assert (result.valid, tuple(result.not_checked)) == (True, ("composition", "settled"))


def test_dropped_copies_make_a_run_invalid() -> None:
    assert verdict(measurement(copies_dropped=0), measurement(copies_dropped=None)) == "valid"
    text = verdict(measurement(), measurement(copies_dropped=3))
    assert "clients dropped copies for want of room (3 in iteration" in text


@pytest.mark.parametrize(
    ("snapshots", "says"),
    [
        (((0.9, 1.1),), None),
        (((0.2, 0.6), (1.9, 2.1)), "no complete snapshot in the window of iteration 1"),  # across
        ((), "no complete snapshot in the window of iteration 1"),
    ],
)
def test_every_window_holds_a_complete_snapshot(snapshots: tuple, says: str | None) -> None:
    case = {"method": "farreach", "snapshot_period_s": 1, "warmup_s": 0.5, "measure_s": 1.5}
    text = verdict(measurement(snapshots=snapshots), **case)
    assert (text == "valid") if says is None else (says in text)


def test_a_run_that_should_have_snapshots_and_copies_and_has_no_data_of_them_says_so() -> None:
    case = {"method": "farreach", "snapshot_period_s": 1, "warmup_s": 0.5, "measure_s": 1.5}
    assert "no complete snapshot" in verdict(measurement(snapshots=None), **case)
    keeping = judged(measurement(), method="farreach", client_copies=True)
    assert "copies" in keeping.not_checked
    assert "copies" not in judged(measurement()).not_checked
