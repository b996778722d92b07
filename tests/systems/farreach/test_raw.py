"""Statistics of hosts, threads and the switch, as nodes answer them, in a measurement."""

from __future__ import annotations

import pytest

from turntable.measurement import HostLoad, Punctuality
from turntable.raw import BEGIN, COLLECT, RawAnswer
from turntable.systems.farreach.raw import read_answers
from turntable_systems.farreach.switch_tables import ANSWERS, OUTCOMES, REQUESTS

from .recorded import counters
from .statistics import SERVER_ZEROS, client_stats

S = 1_000_000_000


def host_stats(steal_s: float, idle_s: float, drops: dict[str, int]) -> dict:
    times = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    counts = {
        f"{way}_{what}": 0 for way in ("rx", "tx") for what in ("errors", "drops", "overruns")
    }
    return {
        "cpus": 2,
        **{f"{name}_ns": S for name in times},
        "idle_ns": idle_s * S,
        "steal_ns": steal_s * S,
        "interfaces": [
            {"name": "lo", **counts, "rx_drops": 7 * drops.get("rx_drops", 0)},
            {"name": "data0", **counts, **drops},
        ],
    }


def measured(*more: RawAnswer, thread: dict | None = None, server: dict | None = None):
    client = client_stats({0: 100}, 1.0)
    client["threads"][0] |= thread or {}
    row = {"partition": 0, "served_in_window": 100, "served_total": 130, "busy_in_window_ns": S}
    row |= SERVER_ZEROS | {"forgiven_us": 5.5} | (server or {})
    stats = {"logical_servers": [row], "window_ns": S}
    answers = [
        RawAnswer("client0", COLLECT, "kvclient", "stats", client),
        RawAnswer("server0", COLLECT, "kvserver", "stats", stats),
        *(
            RawAnswer("switch0", COLLECT, **counters(table, 2, {0: 100}))
            for table in (REQUESTS, ANSWERS)
        ),
    ]
    return read_answers([*answers, *more], 0, (0,), None)


def of_host(phase: str, *stats: object) -> RawAnswer:
    return RawAnswer("client0", phase, "supervisor", "host_stats", host_stats(*stats))


def test_host_load_is_what_grew_during_the_measurement() -> None:
    before = of_host(BEGIN, 4, 10, {"rx_drops": 5, "tx_overruns": 1})
    after = of_host(COLLECT, 5, 13, {"rx_drops": 8, "tx_overruns": 1, "tx_errors": 2})
    # 1 of 4 s; 3 + 2 packets, and none of the loopback's.
    assert measured(before, after).hosts == (HostLoad("client0", 0.25, 5),)


def test_processors_that_did_not_tick_lost_nothing() -> None:
    same = [of_host(phase, 4, 10, {}) for phase in (BEGIN, COLLECT)]
    assert measured(*same).hosts == (HostLoad("client0", 0.0, 0),)


@pytest.mark.parametrize(
    ("pipeline_thread", "punctuality"),
    [
        (
            {"elapsed_ns": 2 * S, "run_ns": S, "wait_ns": S // 2, "late_max_ns": 7_000_000},
            Punctuality(7000.0, 0.25),
        ),
        (
            {"elapsed_ns": 2 * S, "run_ns": None, "wait_ns": None, "late_max_ns": 7_000_000},
            Punctuality(7000.0, None),
        ),
        ({"run_ns": S, "wait_ns": S}, Punctuality()),  # since the switch's start
        (None, Punctuality()),
    ],
)
def test_lateness_of_the_switch(pipeline_thread: dict | None, punctuality: Punctuality) -> None:
    info = RawAnswer("switch0", COLLECT, "softswitch", "info", {"pipeline_thread": pipeline_thread})
    assert measured(info).switch_thread == punctuality


def test_lateness_of_clients() -> None:
    thread = {"read_late_max_us": 900.0, "run_ns": S // 10, "wait_ns": S // 4, "measured_ns": S}
    measurement = measured(thread=thread)
    assert measurement.client_threads == Punctuality(900.0, 0.25)
    assert measurement.end_lateness_us == 20
    assert measured().client_threads == Punctuality()


def test_drops_of_the_switch_are_added_over_its_ports() -> None:
    ports = [
        {"port": 0, "drops": {"rx_queue_full": 2, "egress_drop": 0, "tx_failed": 1}},
        {"port": 64, "drops": {"rx_queue_full": 3, "egress_drop": 0, "tx_failed": 0}},
    ]
    stats = RawAnswer("switch0", COLLECT, "softswitch", "port_stats", {"ports": ports})
    assert measured(stats).switch_drops == {"rx_queue_full": 5, "tx_failed": 1}


def test_requests_that_the_switch_answered_itself_are_no_drops() -> None:
    ports = [{"port": 0, "drops": {"egress_drop": 45}}]
    stats = RawAnswer("switch0", COLLECT, "softswitch", "port_stats", {"ports": ports})
    # 10 GET and 5 PUT hits, 20 control frames, 5 hits while a snapshot was taken; 7 uncached GETs.
    packets = {3: 10, 10: 5, 27: 20, 3 + 32: 5, 4: 7}
    rows = [{"index": index, "$COUNTER_SPEC_PKTS": count} for index, count in packets.items()]
    counters = {"table": OUTCOMES, "counters": rows}
    outcome = RawAnswer("switch0", COLLECT, "softswitch", "counter_read", counters)
    made = measured(stats, outcome)
    assert (made.switch_hits, made.switch_drops) == (20, {"egress_drop": 5})


@pytest.mark.parametrize(
    ("updates", "left"),
    [({}, {}), ({"value_updates": {"sent": 30, "retries": 0}}, {"egress_drop": 30})],
    ids=["farreach", "netcache"],
)
def test_answers_that_fill_slots_leave_as_copies_but_value_updates_do_not(
    updates: dict, left: dict
) -> None:
    ports = [{"port": 2, "drops": {"egress_drop": 30}}]
    stats = RawAnswer("switch0", COLLECT, "softswitch", "port_stats", {"ports": ports})
    rows = [{"index": 25, "$COUNTER_SPEC_PKTS": 18}, {"index": 26, "$COUNTER_SPEC_PKTS": 12}]
    counters = {"table": OUTCOMES, "counters": rows}
    outcome = RawAnswer("switch0", COLLECT, "softswitch", "counter_read", counters)
    assert measured(stats, outcome, server=updates).switch_drops == left


def test_more_answers_than_ended_requests_hide_no_other_drops() -> None:
    ports = [{"port": 2, "drops": {"egress_drop": 5, "rx_queue_full": 3}}]
    stats = RawAnswer("switch0", COLLECT, "softswitch", "port_stats", {"ports": ports})
    rows = [{"index": 3, "$COUNTER_SPEC_PKTS": 9}]
    counters = {"table": OUTCOMES, "counters": rows}
    outcome = RawAnswer("switch0", COLLECT, "softswitch", "counter_read", counters)
    assert measured(stats, outcome).switch_drops == {"rx_queue_full": 3}


def test_what_old_raw_files_lack_is_not_zero() -> None:
    measurement = measured()
    assert (measurement.hosts, measurement.switch_drops) == (None, None)
    assert measurement.servers[0].forgiven_us == 5.5
    assert measurement.servers[0].served_total == 130


def test_value_updates_of_servers_and_in_the_switch() -> None:
    rows = [{"index": 25, "$COUNTER_SPEC_PKTS": 6}, {"index": 26, "$COUNTER_SPEC_PKTS": 3}]
    outcome = RawAnswer(
        "switch0", COLLECT, "softswitch", "counter_read", {"table": OUTCOMES, "counters": rows}
    )
    assert (measured(outcome).switch_updates, measured().switch_updates) == (9, None)
    assert measured().servers[0].updates_sent is None
    updates = {"sent": 8, "retries": 1, "acknowledged": 8, "round_trip_sum_ns": S // 2}
    row = {"value_updates": updates, "held_back_us": 7.5, "held_back_in_window_ns": S // 4}
    server = measured(server=row).servers[0]
    assert (server.updates_sent, server.updates_acknowledged) == (9, 8)
    assert (server.update_round_trips_s, server.held_back_us) == (0.5, 7.5)
    assert server.held_back_share == 0.25
