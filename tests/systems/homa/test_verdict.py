"""Each rule, broken alone; and saturation, which is a state and no fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from turntable.measurement import HostLoad, Measurement, Punctuality
from turntable.systems.homa.rules import RULES, late_share
from turntable.systems.homa.saturation import SATURATED, STEADY, state_of
from turntable.verdict import Case, judge

from .conftest import PREDICTION, REPOSITORY, parameters
from .measured import HEALTHY, histogram, with_clients, with_links, with_packets

BOUNDS = yaml.safe_load((REPOSITORY / "experiments/homa/defaults.yml").read_text())["validity"]


def case_of(measurement: Measurement, **changes: Any) -> Case:
    of_cell = parameters(**changes)
    return Case([measurement], 1, BOUNDS, of_cell, "emulated", prediction=PREDICTION)


def reasons(measurement: Measurement, **changes: Any) -> tuple[str, ...]:
    return judge(RULES, case_of(measurement, **changes)).reasons


def test_a_healthy_measurement_is_valid_and_all_rules_are_checked() -> None:
    verdict = judge(RULES, case_of(HEALTHY))
    assert (verdict.reasons, verdict.not_checked) == ((), {})


def test_what_nobody_asks_of_a_vendors_switch_is_not_checked() -> None:
    verdict = judge(
        RULES, case_of(replace(HEALTHY, queue_drops=None, switch_drops=None, links=None))
    )
    assert verdict.reasons == ()
    assert sorted(verdict.not_checked) == ["links late", "queue drops", "switch drops"]


BROKEN = {
    "errors": (replace(HEALTHY, errors={"client wrong": 1}), "errors were counted: client wrong 1"),
    "aborted": (with_clients(aborted=1), "calls were aborted: up to 1"),
    "unanswered": (with_clients(unanswered=1), "calls had no answer when the drain ended"),
    # The mean is 12.45 MB: 0.51 of it is missing.
    "servers": (
        replace(HEALTHY, echoed_bytes=(6_100_000, 18_800_000)),
        "a server answered with less than the mean of all (share): up to 0.51",
    ),
    "offered": (with_clients(calls=19_999), "-1 calls arrived beside those planned (20,000)"),
    # The simulation delivers 95 %.
    "delivered": (with_clients(answered_bytes=32_500_000), "less of the offered payload"),
    "idle network": (
        with_clients(idle_ns=({3: 2_150_000.0}, {3: 2_500_000.0})),
        "a call of 3 B takes a client 2.5 ms on the idle network, and 2.14 ms by link_mbps",
    ),
    "came twice": (with_packets(came_twice=201), "packets came twice"),
    "queue drops": (replace(HEALTHY, queue_drops=1), "the switch's queues were full"),
    "socket drops": (replace(HEALTHY, socket_drops=1), "sockets dropped packets"),
    "switch drops": (
        replace(HEALTHY, switch_drops={"no_buffer": 1}),
        "the switch dropped packets, no_buffer",
    ),
    "NIC drops": (
        replace(HEALTHY, hosts=(HostLoad("client0", 0.0, 1),)),
        "network interfaces dropped packets",
    ),
    "late start": (replace(HEALTHY, start_lateness_us=600_000.0), "clients started late"),
    "late end": (replace(HEALTHY, end_lateness_us=600_000.0), "clients closed the window late"),
    # 1 % and one of 200,000, later than 2^19 ns = 524 us: a packet takes 626 us.
    "links late": (
        with_links(late_log2_ns=(0,) * 15 + (197_999, 0, 0, 0, 0, 2001)),
        "frames left the switch late by a packet's time",
    ),
    "calls late": (
        with_clients(begin_late=(histogram({50: 980, 700: 20}),)),
        "calls began late (99th percentile, in a full packet's time)",
    ),
    "nodes starved": (
        replace(HEALTHY, nodes=Punctuality(100.0, 0.51)),
        "a node waited for a processor",
    ),
    "switch starved": (
        replace(HEALTHY, switch_thread=Punctuality(100.0, 0.51)),
        "the switch waited for a processor",
    ),
    "steal": (
        replace(HEALTHY, hosts=(HostLoad("client0", 0.06, 0),)),
        "processors of a host were stolen",
    ),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_the_only_reason(rule: str) -> None:
    measurement, said = BROKEN[rule]
    (reason,) = reasons(measurement)
    assert reason.startswith(said)


def test_too_few_calls_are_no_percentile() -> None:
    few = replace(PREDICTION, calls=9_990)
    case = replace(case_of(with_clients(calls=9_990)), prediction=few)
    (reason,) = judge(RULES, case).reasons
    assert reason == "999 calls of each tenth of the sizes (at least 1,000); measure longer"
    alone = replace(case, parameters=parameters(sizes="fixed"))
    assert judge(RULES, alone).reasons == ()


def test_every_rule_was_broken() -> None:
    assert {*BROKEN, "samples"} == set(RULES)


def test_what_basic_loses_and_sends_again_is_its_result() -> None:
    lossy = replace(with_packets(came_twice=5000), queue_drops=100)
    assert reasons(lossy, method="basic") == ()
    assert len(reasons(lossy)) == 2


def test_what_tcps_sockets_drop_is_its_result() -> None:
    dropped = replace(HEALTHY, tcp_socket_drops=1)
    assert reasons(dropped, method="tcp") == reasons(dropped, beside="tcp") == ()
    both = replace(dropped, socket_drops=1)
    assert len(reasons(both, beside="tcp")) == 1


def test_nothing_predicts_what_tcp_delivers() -> None:
    less = with_clients(answered_bytes=32_500_000)
    for of_cell in ({"method": "tcp"}, {"beside": "tcp"}):
        verdict = judge(RULES, case_of(less, **of_cell))
        assert verdict.reasons == ()
        assert list(verdict.not_checked) == ["delivered"]


def test_half_of_the_clients_are_fewer_samples() -> None:
    half = replace(HEALTHY.clients, calls=9_990)
    mixed = replace(HEALTHY, own=half, beside=half)
    (reason,) = reasons(mixed, beside="tcp")
    assert reason.startswith("999 calls of each tenth of the sizes (at least 1,000)")


def test_at_twice_the_load_half_is_all_that_links_carry() -> None:
    waiting = [10, 40, 80, 120, 160, 200, 240, 280, 320]
    full = with_clients(answered_bytes=17_000_000, unanswered=900, waiting_max=waiting)
    assert state_of(case_of(full, load=1.9)) == SATURATED


def growing(waiting: list[int]) -> Measurement:
    return with_clients(answered_bytes=25_000_000, unanswered=900, aborted=3, waiting_max=waiting)


def test_a_saturated_cell_is_valid() -> None:
    """2 clients have at most 100 calls under way; more and more wait."""
    saturated = growing([10, 40, 80, 120, 160, 200, 240, 280, 320])
    assert state_of(case_of(saturated)) == SATURATED
    assert reasons(saturated) == ()


def test_who_delivers_next_to_nothing_is_broken() -> None:
    """Of 35 MB less than a half."""
    waiting = [10, 40, 80, 120, 160, 200, 240, 280, 320]
    dead = with_clients(answered_bytes=17_000_000, unanswered=900, waiting_max=waiting)
    assert state_of(case_of(dead)) == STEADY
    assert len(reasons(dead)) == 2  # unanswered, delivered


@pytest.mark.parametrize(
    "waiting",
    [
        [10, 40, 300, 300, 300, 200, 100, 50, 0],  # a burst that ended
        [0, 1, 2, 3, 4, 5, 6, 8, 10],  # few
        [],
    ],
)
def test_what_does_not_grow_all_the_time_is_not_saturated(waiting: list[int]) -> None:
    assert state_of(case_of(growing(waiting))) == STEADY
    assert len(reasons(growing(waiting))) == 3  # aborted, unanswered, delivered


def test_lateness_is_counted_from_the_next_lower_power_of_two() -> None:
    late = with_links(late_log2_ns=(60_000, *(0,) * 19, 100_000, 40_000)).links
    assert late_share(late, 1048.577) == 0.2  # from 2^20 ns on
    assert late_share(late, 1000.0) == 0.7  # from 2^19 ns on
