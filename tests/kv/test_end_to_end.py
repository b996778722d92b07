"""kvserver and kvclient over loopback: without a switch, straight to the server's port."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from .nodes import Node
from .ports import free_port

CLIENTS = 128
CAPACITY = 2000
WINDOW_S = 2
QUEUE_S = CLIENTS / CAPACITY  # so long the server has work while the clients stand still
TRIES = 4
LEAD_MS = 500  # for the commands before the common start, on a busy machine
WORKLOAD = {"name": "workloada", "clients": CLIENTS, "operations": 20_000, "seed": 7}
STORES = {"workload": WORKLOAD, "scale": 1, "store_profile": "embedded"}
MS = 1_000_000


@dataclass
class Iteration:
    """What the nodes said after an iteration."""

    server: dict[str, Any]
    client: dict[str, Any]

    @property
    def partition(self) -> dict[str, Any]:
        (row,) = self.client["partitions"]
        return row

    @property
    def lost_s(self) -> float:
        """What a busy machine took: from the server as it counts it, and the time for which clients
        waited for a processor if that was longer than the server's queue lasts.
        """
        lost_us = self.server["forgiven_us"] + self.server["blocked_us"]
        for thread in self.client["threads"]:
            lost_us += thread["window_late_us"]
            if thread["read_late_max_us"] / 1e6 > QUEUE_S / 2:
                lost_us += (thread["wait_ns"] or 0) / 1e3
        return lost_us / 1e6


def play(server: Node, client: Node, capacity: float, measure_ms: int) -> Iteration:
    """One iteration of partition 0 of 1."""
    port = free_port()
    server.call(
        "prepare",
        **STORES,
        capacity_ops_per_s=capacity,
        logical_servers=[{"partition": 0, "udp_port": port}],
    )
    client.call(
        "prepare",
        workload=WORKLOAD,
        scale=1,
        partitions=[0],
        first_client=0,
        clients=CLIENTS,
        server_address="127.0.0.1",
        server_port=port,
    )
    start = time.time_ns() + LEAD_MS * MS
    window = start + 100 * MS
    until = window + measure_ms * MS
    server.call("start", measure_from_ns=window, measure_until_ns=until)
    client.call(
        "start",
        start_at_ns=start,
        warmup_ns=100 * MS,
        measure_ns=measure_ms * MS,
        drain_ns=5_000 * MS,
    )
    client.call("wait", deadline_s=50)
    (logical_server,) = server.call("stats")["logical_servers"]
    return Iteration(logical_server, client.call("stats"))


@pytest.fixture(scope="module")
def loaded(server: Node) -> Node:
    server.call("load", **STORES, partitions=[0])
    return server


@pytest.fixture(scope="module")
def limited(loaded: Node, client: Node) -> Iteration:
    """2 s at 2,000 operations/s, with a queue of 64 ms: the first try of which the machine took
    less than 1 %, or the one of which it took least.
    """
    iterations = []
    while len(iterations) < TRIES:
        iterations.append(play(loaded, client, CAPACITY, WINDOW_S * 1000))
        if iterations[-1].lost_s < 0.01 * WINDOW_S:
            break
    return min(iterations, key=lambda iteration: iteration.lost_s)


def test_saturated_server_runs_at_its_capacity(limited: Iteration) -> None:
    # What a busy machine took is missing from the operations.
    operations = CAPACITY * WINDOW_S
    tolerance = 0.01 * operations + limited.lost_s * CAPACITY
    assert limited.server["served_in_window"] == pytest.approx(operations, abs=tolerance)
    assert limited.client["operations"] == pytest.approx(operations, abs=tolerance)
    busy_s = limited.server["busy_in_window_ns"] / 1e9
    assert busy_s == pytest.approx(WINDOW_S, abs=0.01 * WINDOW_S + limited.lost_s)
    window_s = limited.client["window_ns"] / 1e9
    assert window_s == pytest.approx(WINDOW_S, abs=0.01 * WINDOW_S + limited.lost_s)


def test_never_more_than_capacity(limited: Iteration) -> None:
    # However late the worker wakes up: finishes are at least 1/c apart.
    assert limited.server["served_in_window"] <= CAPACITY * WINDOW_S + 1


def test_closed_loop_latency_is_the_queue(limited: Iteration) -> None:
    # Little's law: clients = throughput x latency.
    ops, sum_ns = (limited.partition[key] for key in ("server_ops", "server_latency_sum_ns"))
    throughput = ops / limited.client["window_ns"]
    tolerance = 0.02 + limited.lost_s / WINDOW_S
    assert throughput * sum_ns / ops == pytest.approx(CLIENTS, rel=tolerance)
    histogram = HdrHistogram.decode(limited.partition["server_latency_ns"])
    assert histogram.get_total_count() == ops
    assert histogram.get_mean_value() == pytest.approx(sum_ns / ops, rel=0.001)


def test_both_ends_count_the_same(limited: Iteration) -> None:
    sent = limited.partition["requests_total"]
    assert limited.partition["answers_total"] == sent
    assert limited.server["served_total"] == sent
    assert limited.server["reads"] + limited.server["writes"] == sent
    assert (
        sum(row["partitions"][0]["server_ops"] for row in limited.client["seconds"])
        == (limited.client["operations"])
    )


def test_nothing_goes_wrong(limited: Iteration) -> None:
    names = (
        "timeouts retries stale_answers malformed mismatched wrong_node wrong_values not_found "
        "send_errors receive_errors unanswered socket_drops latency_clamped"
    )
    assert {name: limited.client[name] for name in names.split()} == dict.fromkeys(names.split(), 0)
    names = "not_found misrouted malformed store_errors receive_errors send_errors socket_drops"
    assert {name: limited.server[name] for name in names.split()} == dict.fromkeys(names.split(), 0)
    assert limited.client["complete"] is True
    assert limited.client["in_flight_at_stop"] == limited.client["answered_in_drain"] <= CLIENTS


def test_mix_is_that_of_the_workload(limited: Iteration) -> None:
    # Workload A: half reads, within five standard deviations of as many draws as there were.
    draws = limited.server["served_total"]
    share = limited.server["reads"] / draws
    assert share == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(draws))


def test_without_capacity_the_server_is_faster_and_not_busy(loaded: Node, client: Node) -> None:
    permitted = CAPACITY * 0.5
    # A busy machine may take a window, but not all of them.
    tries = (play(loaded, client, 0, 500) for _ in range(TRIES))
    free = next((one for one in tries if one.client["operations"] > 2 * permitted), None)
    assert free, f"never more than {2 * permitted:.0f} operations in 0.5 s"
    assert free.server["busy_in_window_ns"] < 0.5e9
    assert free.partition["answers_total"] == free.server["served_total"]
    assert free.client["wrong_values"] == 0


def test_stop_during_an_iteration_keeps_the_statistics(loaded: Node, client: Node) -> None:
    port = free_port()
    prepare = {"workload": WORKLOAD, "scale": 1, "partitions": [0], "first_client": 0}
    client.call("prepare", **prepare, clients=4, server_address="127.0.0.1", server_port=port)
    client.call(
        "start",
        start_at_ns=time.time_ns(),
        warmup_ns=60_000 * MS,
        measure_ns=1_000 * MS,
        drain_ns=0,
    )
    assert client.call("ping")["state"] == "running"
    assert client.call("stats")["running"] is True
    client.call("stop")
    assert client.call("wait", deadline_s=1) == {"stopped_early": True}
    assert client.call("stats")["complete"] is False
    assert loaded.call("ping")["state"] == "serving"


@pytest.mark.parametrize("value_bytes", [129, 65_536])
def test_large_values_travel_in_fragments(server: Node, client: Node, value_bytes: int) -> None:
    workload = {**WORKLOAD, "clients": 4, "operations": 400, "value_bytes": value_bytes}
    stores = {**STORES, "workload": workload}
    server.call("load", **stores, partitions=[0])
    port = free_port()
    server.call(
        "prepare",
        **stores,
        capacity_ops_per_s=0,
        logical_servers=[{"partition": 0, "udp_port": port}],
    )
    client.call(
        "prepare",
        workload=workload,
        scale=1,
        partitions=[0],
        first_client=0,
        clients=4,
        server_address="127.0.0.1",
        server_port=port,
    )
    start = time.time_ns() + LEAD_MS * MS
    schedule = {"warmup_ns": 0, "measure_ns": 300 * MS, "drain_ns": 5_000 * MS}
    client.call("start", start_at_ns=start, **schedule)
    client.call("wait", deadline_s=30)
    raw = client.call("stats")
    (logical_server,) = server.call("stats")["logical_servers"]
    (row,) = raw["partitions"]
    assert raw["operations"] > 0
    errors = ("wrong_values", "malformed", "mismatched", "unanswered", "retries", "not_found")
    assert {name: raw[name] for name in errors} == dict.fromkeys(errors, 0)
    # Each value travels in ceil(bytes / 1412) datagrams, and its other direction in one.
    fragments = -(-value_bytes // 1412)
    reads, writes = logical_server["reads"], logical_server["writes"]
    assert row["requests_total"] == reads + fragments * writes
    assert row["answers_total"] == fragments * reads + writes
    assert logical_server["large_values"]["evicted"] == 0
