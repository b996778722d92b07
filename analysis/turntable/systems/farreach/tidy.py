"""Data frames of runs: those that every system has (turntable.tidy), and those by partition."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from turntable.results import CellResult
from turntable.systems.farreach.measurement import Measurement
from turntable.tidy import (
    Runs,
    Values,
    attempts,
    frame,
    keys,
    latency,
    of_iterations,
    parameters,
    rounds,
)

__all__ = [
    "attempts",
    "iterations",
    "keys",
    "latency",
    "parameters",
    "rounds",
    "seconds",
    "servers",
]


def iterations(runs: Runs) -> pd.DataFrame:
    """A row per iteration and partition.

    role: bottleneck or rotated. switch_ops_per_s, server_ops_per_s: answers in the window by who
    gave them. latency_mean_us: queueing, in a saturated closed loop.
    """
    columns = (
        "iteration", "partition", "role", "seconds", "switch_ops_per_s", "server_ops_per_s",
        "latency_mean_us", "requests_total", "answers_total", "switch_requests", "switch_answers",
        "retries", "overhead_s",
    )  # fmt: skip
    return frame(runs, columns, of_iterations(_partitions))


def servers(runs: Runs) -> pd.DataFrame:
    """A row per iteration and logical server. utilization: of its capacity, NaN without one."""
    columns = (
        "iteration", "partition", "role", "ops_per_s", "utilization", "busy_share", "socket_drops",
    )  # fmt: skip
    return frame(runs, columns, of_iterations(_servers))


def seconds(runs: Runs) -> pd.DataFrame:
    """A row per iteration, second of its window (0 is the first) and partition."""
    columns = ("iteration", "second", "partition", "role", "ops_per_s")
    return frame(runs, columns, of_iterations(_seconds))


def _partitions(_: CellResult, measurement: Measurement) -> Iterator[Values]:
    for partition in measurement.partitions:
        client, rates = measurement.clients[partition], measurement.rates(partition)
        switch = measurement.switch[partition]
        operations = client.server_ops + client.switch_ops
        yield {
            "partition": partition,
            "role": _role(measurement, partition),
            "seconds": measurement.seconds,
            "switch_ops_per_s": rates.switch,
            "server_ops_per_s": rates.server,
            "latency_mean_us": client.latency_sum_ns / 1000 / operations if operations else None,
            "requests_total": client.requests_total,
            "answers_total": client.answers_total,
            "switch_requests": switch.requests,
            "switch_answers": switch.answers,
            "retries": measurement.retries,
            "overhead_s": measurement.overhead_s,
        }


def _servers(cell: CellResult, measurement: Measurement) -> Iterator[Values]:
    capacity = cell.parameters["capacity_ops_per_s"]
    for server in measurement.servers:
        yield {
            "partition": server.partition,
            "role": _role(measurement, server.partition),
            "ops_per_s": server.ops_per_s,
            # As in the verdict: time in which the method held requests back is no slack.
            "utilization": server.ops_per_s / capacity + server.held_back_share
            if capacity > 0
            else None,
            "busy_share": server.busy_share,
            "socket_drops": server.socket_drops,
        }


def _seconds(_: CellResult, measurement: Measurement) -> Iterator[Values]:
    for second in measurement.each_second:
        for partition, rate in second.ops_per_s.items():
            yield {
                "second": second.second,
                "partition": partition,
                "role": _role(measurement, partition),
                "ops_per_s": rate,
            }


def _role(measurement: Measurement, partition: int) -> str:
    return "bottleneck" if partition == measurement.partitions[0] else "rotated"
