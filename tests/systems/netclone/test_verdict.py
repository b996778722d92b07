"""Each rule, broken alone; and saturation, which is a state and no fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml

from turntable.measurement import Event, HostLoad, Measurement, Punctuality
from turntable.systems.netclone.rules import MACHINE_RULES, RULES
from turntable.systems.netclone.saturation import SATURATED, STEADY, state_of
from turntable.verdict import Case, judge

from .conftest import REPOSITORY, parameters
from .measured import (
    SWITCH,
    coordinated,
    healthy,
    histogram,
    plain,
    with_clients,
    with_coordinator,
    with_server,
    with_switch,
)

BOUNDS = yaml.safe_load((REPOSITORY / "experiments/netclone/defaults.yml").read_text())["validity"]


def case_of(measurement: Measurement, **changes: Any) -> Case:
    return Case([measurement], 1, BOUNDS, parameters(**changes), "emulated")


def reasons(measurement: Measurement, **changes: Any) -> tuple[str, ...]:
    return judge(RULES, case_of(measurement, **changes)).reasons


@pytest.mark.parametrize("measurement", [healthy(), plain(), coordinated()])
def test_a_healthy_measurement_is_valid(measurement: Measurement) -> None:
    verdict = judge(RULES, case_of(measurement))
    assert (verdict.reasons, verdict.not_checked) == ((), {})


def losing(requests: int) -> Measurement:
    """Of 1000, and the others are answered at once."""
    left = 1000 - requests
    half = (histogram({3_000: left // 2}),) if left else (histogram({}),)
    seconds = ({"offered": 1000, "delivered": left},)
    return with_clients(
        delivered=left, lost=requests, first_half=half, second_half=half, per_second=seconds
    )


def cut_off() -> Measurement:
    """Nobody is reached in the window's second half."""
    seconds = ({"offered": 500, "delivered": 500}, {"offered": 500, "delivered": 0})
    nothing = (histogram({}),)
    return with_clients(delivered=500, lost=500, second_half=nothing, per_second=seconds)


def test_what_is_just_allowed_is_valid() -> None:
    assert reasons(losing(20)) == ()
    assert reasons(with_server(busy_s=2.19)) == ()


def test_a_short_stall_in_a_long_window_does_not_matter() -> None:
    stalled = replace(healthy(), switch_thread=Punctuality(18_000.0, 0.1))
    assert reasons(replace(stalled, seconds=19.0)) == ()
    (reason,) = reasons(replace(stalled, seconds=17.0))
    assert reason.startswith("the switch stood still")


def test_a_switch_that_tells_nothing_of_its_thread_is_said_to() -> None:
    silent = {"thread": "it tells nothing", "drops": "it tells a part"}
    unknown = replace(healthy(), switch_thread=Punctuality(), switch_not_measured=silent)
    verdict = judge(RULES, case_of(unknown))
    assert verdict.reasons == ()
    assert verdict.not_checked == {
        "switch drops": "it tells a part",
        "switch starved": "it tells nothing",
        "switch stalls": "it tells nothing",
    }


MEAN_SERVICE_US = 2_850  # of the parameters, on the testbed's clock
STALLS = "the machine held requests up (share late by a mean service time, or slot time lost)"


def late(requests: int, of: int = 100_000) -> str:
    return histogram({20: of - requests, MEAN_SERVICE_US * 1.1: requests})


def of_100_000(**of_server: Any) -> Measurement:
    """Each server's slots did 50,000 pieces of work."""
    made = with_clients(offered=100_000, delivered=100_000, send_late=(late(0),))
    server = replace(made.servers[0], work_error=late(0, 50_000))
    return replace(made, servers=(server, replace(server, **of_server)))


def sent_late(requests: int) -> Measurement:
    made = of_100_000()
    return replace(made, clients=replace(made.clients, send_late=(late(requests),)))


def test_stalls_that_touch_a_tenth_of_what_is_above_p99_do_not_matter() -> None:
    assert reasons(sent_late(99)) == ()
    assert reasons(of_100_000(work_error=late(99, 50_000))) == ()
    assert reasons(of_100_000(lost_s=0.03)) == ()  # of two servers' 8 slots in 2 s: 32 s


@pytest.mark.parametrize(
    "measurement",
    [
        sent_late(110),
        of_100_000(work_error=late(110, 50_000)),
        of_100_000(lost_s=0.034),
    ],
)
def test_stalls_count_in_sum(measurement: Measurement) -> None:
    (reason,) = reasons(measurement)
    assert reason.startswith(STALLS)
    assert "stalls" in MACHINE_RULES


def test_stalls_of_saturated_cells_change_no_result() -> None:
    made = sent_late(110)
    saturated = replace(made, clients=replace(made.clients, delivered=90_000))
    assert state_of(case_of(saturated)) == SATURATED
    assert reasons(saturated) == ()


def test_stalls_of_few_requests_may_be_as_many_as_p99_cannot_tell() -> None:
    """Of 1000 requests 10 are above p99, give or take 9.5."""
    assert reasons(with_clients(send_late=(late(9, 1000),))) == ()
    (reason,) = reasons(with_clients(send_late=(late(10, 1000),)))
    assert reason.startswith(STALLS)


def test_a_limit_that_binds_leaves_no_open_loop() -> None:
    assert reasons(with_clients(withheld=1)) == ()
    (reason,) = reasons(with_clients(withheld=2))
    assert reason.startswith("requests were withheld by outstanding_max (share of those offered)")
    assert reasons(with_clients(withheld=500, delivered=500)) == ()  # saturated


def test_latencies_beyond_what_is_known_are_no_result() -> None:
    (reason,) = reasons(with_clients(clamped=1))
    assert reason.startswith("latencies above 60 s count as 60 s")
    assert reasons(with_clients(clamped=100, delivered=500)) == ()


HOST = HostLoad("h", steal_share=0.0, nic_drops=0)


@pytest.mark.parametrize(
    ("measurement", "reason"),
    [
        (losing(21), "requests were lost (share of those offered): up to 0.021"),
        (losing(250), "requests were lost (share of those offered): up to 0.25"),
        (cut_off(), "requests were lost (share of those offered): up to 0.5"),
        (losing(1000), "requests were lost (share of those offered): up to 1"),
        (replace(healthy(), errors={"client malformed": 1}), "errors were counted"),
        (with_switch(unknown=2), "the switch dropped packets that it does not know"),
        (with_server(busy_s=2.21), "slots were busy for another time than their work takes"),
        (with_server(lost_s=0.21), "slots were busy for another time than their work takes"),
        (with_server(busy_s=1.79), "slots were busy for another time than their work takes"),
        # A tenth of 28.5 us, a hundred times dilated.
        (with_server(work_error_s=286e-6), "slots were held for another time than was drawn"),
        (
            with_clients(send_late=(histogram({20: 900, 580: 100}),)),
            "requests were sent late (99th percentile, in mean service times)",
        ),
        (with_clients(socket_drops=31), "sockets dropped packets"),
        (with_server(socket_drops=31), "sockets dropped packets"),
        (replace(healthy(), switch_drops={"queue_full": 31}), "the switch dropped packets"),
        (replace(healthy(), hosts=(replace(HOST, nic_drops=31),)), "network interfaces dropped"),
        (replace(healthy(), start_lateness_us=500_001.0), "clients started late"),
        (replace(healthy(), end_lateness_us=110_000.0), "clients closed the window late"),
        (
            replace(healthy(), client_threads=Punctuality(0.0, 0.51)),
            "a client waited for a processor",
        ),
        (replace(healthy(), switch_thread=Punctuality(0.0, 0.51)), "the switch waited for a proc"),
        (with_coordinator(wait_share=0.51), "the coordinator waited for a processor"),
        (with_coordinator(socket_drops=31), "sockets dropped packets"),
        (replace(healthy(), switch_thread=Punctuality(14_300.0, 0.1)), "the switch stood still"),
        (replace(healthy(), hosts=(replace(HOST, steal_share=0.06),)), "processors of a host were"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_rule_is_the_only_reason(measurement: Measurement, reason: str) -> None:
    (given,) = reasons(measurement)
    assert given.startswith(reason)


@pytest.mark.parametrize(
    ("measurement", "words"),
    [
        (with_switch(requests=1502, not_cloned={"first busy": 602}), "requests at clients and swi"),
        (with_switch(came_round=898), "clones and what came round of them"),
        (with_switch(not_cloned={"first busy": 400}), "requests of the switch by what became of"),
        (with_switch(filtered=780), "answers at switch and clients"),
        (with_server(received_total=1205, clones_dropped_total=55), "copies at switch and servers"),
        (
            with_server(answered_total=1130, clones_dropped_total=70),
            "answers at servers and switch",
        ),
        (with_server(clones_dropped_total=30), "copies that servers answered, dropped or still"),
        (
            replace(plain(), clients=replace(plain().clients, sent_total=1505)),
            "requests at clients and servers",
        ),
        (
            replace(plain(), clients=replace(plain().clients, received_total=1480)),
            "answers at servers and clients",
        ),
        (
            replace(coordinated(), clients=replace(healthy().clients, sent_total=1505)),
            "requests at clients and coordinator",
        ),
        (
            replace(coordinated(), clients=replace(healthy().clients, received_total=1490)),
            "answers at coordinator and clients",
        ),
    ],
)
def test_counters_that_differ_are_named(measurement: Measurement, words: str) -> None:
    (given,) = reasons(measurement)
    assert given.startswith("counters differ (share of the requests, at most 0.001): ")
    assert words in given


def test_counters_may_differ_by_a_stray_packet() -> None:
    assert reasons(with_clients(received_total=1499)) == ()


def test_slots_may_serve_slower_copies_when_clients_are_done() -> None:
    assert reasons(with_server(answered_total=1140, clones_dropped_total=60)) == ()


def test_slower_copies_may_be_in_queues_too() -> None:
    """Slots of 16 and queues of 4 and 20."""
    queues = replace(
        with_server(answered_total=1110, longest_queue=20),
        switch=replace(SWITCH, responses=2260, filtered=760),
    )
    servers = (replace(queues.servers[0], longest_queue=4), queues.servers[1])
    assert reasons(replace(queues, servers=servers)) == ()
    (reason,) = reasons(queues)
    assert "copies that servers answered, dropped or still had" in reason


def test_counters_of_nodes_that_were_started_again_are_not_compared() -> None:
    started = Event(7.0, "start switch0", None)
    verdict = judge(RULES, case_of(replace(with_switch(requests=9, unknown=90), events=(started,))))
    assert verdict.reasons == ()
    assert verdict.not_checked.keys() == {"counters", "unknown packets"}


HALF = (histogram({3_000: 47_500, 8_000: 2_450, 40_000: 50}),)
SATURATIONS: list[Callable[[], Measurement]] = [
    # More than 20 in 1000, and 3 * sqrt(2 * 1.64) that were under way.
    lambda: with_clients(delivered=974),
    lambda: with_clients(first_half=HALF, second_half=(histogram({9_700: 50_000}),)),
    # Three times what can be done, and a drain that is short: nobody of the second half was served.
    lambda: with_clients(delivered=330, lost=660, second_half=(histogram({}),)),
    # Even more: in the whole window answers came to requests of the warm-up.
    lambda: with_clients(
        delivered=330, lost=1000, first_half=(histogram({}),), second_half=(histogram({}),)
    ),
]


@pytest.mark.parametrize("made", SATURATIONS)
def test_a_saturated_cell_is_valid(made: Callable[[], Measurement]) -> None:
    assert state_of(case_of(made())) == SATURATED
    assert reasons(made()) == ()


def test_losses_of_a_saturated_cell_are_results() -> None:
    measurement = with_clients(delivered=900, lost=70, socket_drops=50)
    assert reasons(measurement) == ()


def test_a_cell_on_the_edge_is_steady() -> None:
    assert state_of(case_of(with_clients(delivered=975))) == STEADY
    slower = with_clients(first_half=HALF, second_half=(histogram({9_500: 50_000}),))
    assert state_of(case_of(slower)) == STEADY


def test_a_window_with_a_timeline_has_no_halves_to_compare() -> None:
    killed = replace(with_clients(delivered=500), events=(Event(5.0, "kill switch0", None),))
    assert state_of(case_of(killed)) == STEADY


def test_a_percentile_that_jumps_between_two_values_is_no_saturation() -> None:
    """2.5 ms and 25 ms, whose shares are 0.9905 and 0.0095 in one half, 0.9895 and 0.0105 next."""
    halves = [(histogram({2_500: 20_000 - slow, 25_000: slow}),) for slow in (190, 210)]
    first, second = halves
    assert state_of(case_of(with_clients(first_half=first, second_half=second))) == STEADY


def test_what_blames_the_machine_is_a_rule() -> None:
    assert MACHINE_RULES & RULES.keys() >= {"sent late", "work", "slots", "steal"}
