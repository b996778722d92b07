"""Each rule, broken alone."""

from __future__ import annotations

from typing import Any

import pytest

from turntable.systems.shadowfax.measurement import Measurement
from turntable.systems.shadowfax.rules import MACHINE_RULES, RULES
from turntable.verdict import Case, Verdict, judge

from .measured import (
    OPERATIONS,
    PARAMETERS,
    ROUND_TRIP_US,
    THREAD,
    VALIDITY,
    WORKER,
    client_stats,
    histogram,
    measurement,
    server_stats,
    text_measurement,
)


def judged(found: Measurement, **parameters: Any) -> Verdict:
    return judge(RULES, Case([found], 1, VALIDITY, PARAMETERS | parameters, "emulated"))


def of_client(**changes: Any) -> Measurement:
    return measurement(client_stats(**changes))


def open_loop(**changes: Any) -> Measurement:
    offered = {"offered": 200_000, "latency_ns": histogram({100: 200_000})}
    late = {"send_late_ns": histogram({20: 200_000})}
    return of_client(**{"operations": 200_000, **offered, **late, **changes})


RATE = {"rate_per_s": 100_000}  # in a window of 2 s


def test_a_healthy_measurement_is_valid_and_all_rules_are_checked() -> None:
    assert (judged(measurement()).reasons, judged(measurement()).not_checked) == ((), {})
    in_open_loop = judged(open_loop(), **RATE)
    assert in_open_loop.reasons == ()
    assert list(in_open_loop.not_checked) == ["consistency"]


@pytest.mark.parametrize(("sums", "said"), [
    ((2_999_999, 500), "values add up to 5,999,998"),
    ((3_000_001, 500), "values add up to 6,000,002"),
    ((3_000_000, 499), "998 keys have a value"),
])  # fmt: skip
def test_one_addition_or_key_too_many_or_too_few(sums: tuple[int, int], said: str) -> None:
    (reason,) = judged(measurement(sums=sums)).reasons
    assert said in reason


def test_what_was_sent_and_not_answered_may_be_there() -> None:
    client = client_stats(adds_acknowledged_total=5_999_998)
    assert judged(measurement(client, sums=(2_999_999, 500))).valid
    assert judged(measurement(client)).valid
    assert not judged(measurement(client, sums=(2_999_998, 500))).valid


def test_nobody_asks_for_sums_where_upserts_replace_them() -> None:
    assert judged(measurement(sums=None)).valid


def test_another_store_is_judged_as_ours() -> None:
    verdict = judged(text_measurement(), store="memcached")
    assert (verdict.reasons, verdict.not_checked) == ((), {})
    lost = client_stats(adds_acknowledged_total=6_000_001, adds_issued_total=6_000_001)
    (reason,) = judged(text_measurement(lost), store="memcached").reasons
    assert "values add up to 6,000,000" in reason


def test_a_store_that_has_ended_is_said() -> None:
    gone = {"workers": [{"cpu_ns": None, "waited_ns": None}] * 2, "errors": {"store ended": 1}}
    (reason,) = judged(text_measurement(**gone), store="redis").reasons
    assert "store ended 2" in reason  # on two hosts


def test_why_operations_failed_is_in_the_words_of_the_server() -> None:
    said = {"failed_why": "SERVER_ERROR out of memory", "lost_why": "the server has closed"}
    broken = client_stats(errors={"failed": 7, "lost_sessions": 1}, **said)
    (reason,) = judged(text_measurement(broken), store="memcached").reasons
    assert "client failed (SERVER_ERROR out of memory) 7" in reason
    assert "client lost_sessions (the server has closed) 1" in reason


def test_keys_that_are_missing() -> None:
    (reason,) = judged(of_client(not_found=3)).reasons
    assert "3 operations found their key missing" in reason
    # Keys of a file may be others than those that were stored.
    assert judged(of_client(not_found=3), txns_file="/requests", load_file="/keys").valid


# 5 % of 400 us are 20.
@pytest.mark.parametrize(
    ("mean_us", "valid"), [(381, True), (419, True), (379, False), (421, False)]
)
def test_round_trips_and_throughput_that_contradict_each_other(mean_us: float, valid: bool) -> None:
    verdict = judged(of_client(round_trip_mean_ns=mean_us * 1e3))
    assert verdict.valid == valid
    assert valid or "Little's law" in verdict.reasons[0]


@pytest.mark.parametrize(("changes", "why"), [
    ({"pending": 1}, "operations were pending"),
    ({"refused_batches": 1}, "batches were refused"),
    ({"offered": 200_000}, "open loop"),
    ({"round_trip_mean_ns": None, "batches": 0}, "no batch was answered"),
])  # fmt: skip
def test_where_the_law_says_nothing_it_is_said_not_to_be_checked(
    changes: dict[str, Any], why: str
) -> None:
    found = open_loop if "offered" in changes else of_client
    rates = RATE if "offered" in changes else {}
    verdict = judged(found(**{"round_trip_mean_ns": ROUND_TRIP_US * 2e3, **changes}), **rates)
    assert "Little's law" not in "".join(verdict.reasons)
    assert why in verdict.not_checked["consistency"]
    assert "in 1 of 1 iterations" in verdict.not_checked["consistency"]


def test_a_broken_law_is_said_although_another_iteration_was_not_checked() -> None:
    broken, pending = of_client(round_trip_mean_ns=ROUND_TRIP_US * 2e3), of_client(pending=1)
    verdict = judge(RULES, Case([broken, pending], 2, VALIDITY, PARAMETERS, "emulated"))
    assert "Little's law" in verdict.reasons[0]
    assert "in 1 of 2 iterations" in verdict.not_checked["consistency"]


BROKEN = {
    "errors": of_client(errors={"failed": 1, "lost_sessions": 0}),
    "values": of_client(errors={"failed": 0, "lost_sessions": 0, "wrong_values": 3}),
    "window": of_client(complete=False),
    "server": measurement(server=server_stats(errors={"log_write": 1})),
    # 0.1 % of the operations may be lost.
    "unanswered": of_client(unanswered=OPERATIONS // 900),
    "refused": of_client(refused_batches=OPERATIONS // 5_000),
    "late start": of_client(threads=[THREAD | {"start_lateness_ns": 600_000_000}]),
    "late end": of_client(threads=[THREAD | {"window_lateness_ns": 200_000_000}]),
    "client": of_client(
        threads=[THREAD | {"scheduling": {"ran_ns": 1, "waited_ns": 7 * 10**8}}] * 2
    ),
    "worker": measurement(server=server_stats(workers=[WORKER | {"waited_ns": 7 * 10**8}] * 2)),
    "steal": measurement(stolen_ns=10**9),
}
WORDS = {
    "errors": "client failed 1",
    "values": "client wrong_values 3",
    "window": "client window incomplete 1",
    "server": "server log_write 2",
    "unanswered": "operations were never answered",
    "refused": "servers refused batches",
    "late start": "clients started late",
    "late end": "closed the window late",
    "client": "a client's thread waited",
    "worker": "a worker waited",
    "steal": "processors of a host were stolen",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_said(name: str) -> None:
    assert any(WORDS[name] in reason for reason in judged(BROKEN[name]).reasons)


def test_another_load_than_was_asked_for() -> None:
    # By chance 4 / sqrt(200,000) = 0.9 %, beyond that 2 % are allowed.
    assert judged(open_loop(offered=205_000), **RATE).valid
    (reason,) = judged(open_loop(offered=206_000), **RATE).reasons
    assert "another load was offered" in reason


def test_a_late_generator() -> None:
    (reason,) = judged(open_loop(send_late_ns=histogram({300: 200_000})), **RATE).reasons
    assert "sent late" in reason


def test_rules_that_blame_the_machine_are_rules() -> None:
    assert {"sent late", "servers starved", "steal"} <= MACHINE_RULES & set(RULES)
