"""Verdicts: every rule can make a run invalid, with a reason that says by how much."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turntable.measurement import ClientPartition, LogicalServer, Measurement, SwitchPartition
from turntable.verdict import judge, worst_utilization

from .conftest import DOCUMENT

RULES = DOCUMENT["validity"]


def client(requests: int = 1100, answers: int = 1100) -> ClientPartition:
    return ClientPartition(
        server_ops=1000,
        switch_ops=0,
        requests_total=requests,
        answers_total=answers,
        latency_sum_ns=0,
        histograms=(),
    )


def measurement(busier_ops_per_s: float = 1000, **changes: object) -> Measurement:
    """Bottleneck 3 at the given rate, partition 0 at half of it;

    capacity is 1,000 ops/s in these tests.
    """
    made = Measurement(
        iteration=1,
        partitions=(3, 0),
        seconds=1.0,
        clients={3: client(), 0: client()},
        servers=(
            LogicalServer(3, busier_ops_per_s, busy_share=1.0, socket_drops=0),
            LogicalServer(0, busier_ops_per_s / 2, busy_share=0.5, socket_drops=0),
        ),
        switch={3: SwitchPartition(1100, 1100), 0: SwitchPartition(1100, 1100)},
        retries=0,
        in_flight_at_stop=64,
        client_socket_drops=0,
        start_lateness_us=15.0,
        errors={},
        overhead_s=0.4,
    )
    return replace(made, **changes)


def verdict(
    *measurements: Measurement,
    expected: int | None = None,
    capacity: float = 1000,
    fidelity: str = "emulated",
) -> str:
    # 30 clients at 1,000 ops/s settle in 2 * 30 / 1,000 = 0.06 s of the warm-up.
    parameters = {"capacity_ops_per_s": capacity, "clients": 30, "warmup_s": 0.2}
    return str(judge(measurements, expected or len(measurements), RULES, parameters, fidelity))


def test_good_run_is_valid() -> None:
    assert verdict(measurement(), measurement(970), measurement(1030)) == "valid"


@pytest.mark.parametrize("rate", [969, 1031, 0])
def test_busier_server_away_from_its_capacity(rate: float) -> None:
    assert verdict(measurement(), measurement(rate)) == (
        "invalid: the servers were not the bottleneck: "
        f"the busier server ran at {rate / 1000:.3f} of its capacity "
        "in 1 of 2 iterations (expected 0.97 to 1.03)"
    )


def test_emulated_servers_without_capacity_cannot_be_the_bottleneck() -> None:
    text = verdict(measurement(90_000), capacity=0)
    assert text.startswith("invalid: the servers were not the bottleneck: capacity_ops_per_s is 0")


def test_real_servers_without_capacity_must_be_busy() -> None:
    idle = replace(
        measurement(), servers=(LogicalServer(3, 90_000, busy_share=0.6, socket_drops=0),)
    )
    assert verdict(measurement(90_000), capacity=0, fidelity="hardware") == "valid"
    assert "busy for 0.600 of the time in 1 of 1" in verdict(idle, capacity=0, fidelity="hardware")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"retries": 2}, "requests were sent again: up to 2 in 1 of 2 iterations (at most 0)"),
        (
            {"client_socket_drops": 3},
            "sockets dropped packets: up to 3 in 1 of 2 iterations (at most 0)",
        ),
        (
            {"start_lateness_us": 190_000.0},
            "clients started late (µs): up to 190000 in 1 of 2 iterations (at most 140000)",
        ),
        ({"errors": {"client wrong_values": 4}}, "errors were counted: client wrong_values 4"),
        (
            {"switch": {3: SwitchPartition(1099, 1100), 0: SwitchPartition(1100, 1100)}},
            "counters do not add up: iteration 1, partition 3: "
            "1099 requests in the switch, 1100 at the clients",
        ),
        (
            {"switch": {3: SwitchPartition(1100, 1101), 0: SwitchPartition(1100, 1000)}},
            "counters do not add up: iteration 1, partition 3: "
            "1101 answers in the switch, 1100 at the clients and 1 more",
        ),
    ],
)
def test_each_rule_is_a_reason(changes: dict, reason: str) -> None:
    assert verdict(measurement(), measurement(**changes)) == f"invalid: {reason}"


def test_drops_of_a_server_socket_count() -> None:
    servers = (LogicalServer(3, 1000, 1.0, socket_drops=2),)
    assert "sockets dropped packets: up to 2" in verdict(measurement(servers=servers))


def test_missing_iterations_are_a_reason_and_not_a_crash() -> None:
    assert verdict(measurement(), expected=4) == "invalid: 3 of 4 iterations are missing"
    assert verdict(expected=4) == "invalid: 4 of 4 iterations are missing"


def test_reasons_are_listed_together() -> None:
    text = verdict(measurement(500, retries=1), expected=2)
    assert text.count(";") == 2
    assert all(
        part in text
        for part in ("1 of 2 iterations are missing", "not the bottleneck", "sent again")
    )


def test_worst_utilization_is_the_farthest_from_one() -> None:
    assert worst_utilization([measurement(990), measurement(1020), measurement(1001)], 1000) == 1.02
    assert worst_utilization([measurement(990)], 0) is None
