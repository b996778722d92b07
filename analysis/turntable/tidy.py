"""Runs as tidy data frames: one observation per row, units in the names, missing as NaN.

Every function takes a run or several, and every frame begins with KEYS, so that frames can be
joined with each other and with `parameters`. Nothing is left out: choose valid rounds with `valid`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pandas as pd

from turntable.cells import Cell, Round
from turntable.histograms import merge
from turntable.load import Run
from turntable.measurement import Measurement
from turntable.summary import COLUMNS, weighted_partitions

KEYS = ("experiment", "run", "cell", "method", "workload", "servers", "round", "valid")

Runs = Run | Iterable[Run]
Values = dict[str, Any]


def rounds(runs: Runs) -> pd.DataFrame:
    """A row per cell and round: the columns of summary.csv."""
    columns = [column for column in COLUMNS if column not in KEYS]
    return _frame(runs, columns, lambda _, round_: [round_.row])


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
    return _frame(runs, columns, _of_iterations(_partitions))


def servers(runs: Runs) -> pd.DataFrame:
    """A row per iteration and logical server. utilization: of its capacity, NaN without one."""
    columns = (
        "iteration", "partition", "role", "ops_per_s", "utilization", "busy_share", "socket_drops",
    )  # fmt: skip
    return _frame(runs, columns, _of_iterations(_servers))


def seconds(runs: Runs) -> pd.DataFrame:
    """A row per iteration, second of its window (0 is the first) and partition."""

    def rows(_: Cell, round_: Round) -> Iterator[Values]:
        for iteration, window in round_.turn.seconds.items():
            for second in window:
                for partition, rate in second.ops_per_s.items():
                    yield {
                        "iteration": iteration,
                        "second": second.second,
                        "partition": partition,
                        "role": _role(round_, partition),
                        "ops_per_s": rate,
                    }

    return _frame(runs, ("iteration", "second", "partition", "role", "ops_per_s"), rows)


def latency(runs: Runs) -> pd.DataFrame:
    """Queueing latency: a row per bucket of a round's merged histogram.

    weight: operations, rotated partitions scaled as their throughput is. To merge rounds, add the
    weights of equal latency_us; `share` is cumulative within the round. Complete rounds only.
    """

    def rows(_: Cell, round_: Round) -> Iterator[Values]:
        if not round_.turn.complete:
            return
        parts = weighted_partitions(round_.turn.measurements)
        merged = merge((text, weight) for client, weight in parts for text in client.histograms)
        total, seen = merged.total, 0.0
        for value, weight in zip(merged.values, merged.weights, strict=True):
            seen += weight
            yield {"latency_us": value, "weight": weight, "share": seen / total}

    return _frame(runs, ("latency_us", "weight", "share"), rows)


def attempts(runs: Runs) -> pd.DataFrame:
    """A row per attempt in the journal, failed ones too."""
    names = (
        "iteration", "attempt", "status", "failure_class", "message", "overhead_s", "began_at_ns",
        "ended_at_ns",
    )  # fmt: skip

    def rows(cell: Cell, round_: Round) -> Iterator[Values]:
        for attempt in cell.run.attempts:
            if (attempt.cell, attempt.round) == (cell.id, round_.number):
                yield {name: getattr(attempt, name) for name in names}

    return _frame(runs, names, rows)


def parameters(runs: Runs) -> pd.DataFrame:
    """A row per run and cell, a column per parameter."""
    return pd.DataFrame(
        {"run": run.name, "cell": cell.id} | dict(cell.parameters)
        for run in _each(runs)
        for cell in run.cells
    )


def _frame(
    runs: Runs, columns: Iterable[str], rows: Callable[[Cell, Round], Iterable[Values]]
) -> pd.DataFrame:
    """One frame of all rounds of all runs. Columns are there even if nothing was measured."""
    return pd.DataFrame(
        (
            _keys(cell, round_) | {name: row[name] for name in columns}
            for run in _each(runs)
            for cell in run.cells
            for round_ in cell.rounds
            for row in rows(cell, round_)
        ),
        columns=[*KEYS, *columns],
    )


def _keys(cell: Cell, round_: Round) -> Values:
    factors = {name: cell.parameters[name] for name in ("method", "workload", "servers")}
    where = {"experiment": cell.run.plan.experiment, "run": cell.run.name, "cell": cell.id}
    return where | factors | {"round": round_.number, "valid": round_.valid}


def _each(runs: Runs) -> Iterable[Run]:
    return [runs] if isinstance(runs, Run) else runs


def _of_iterations(
    rows: Callable[[Cell, Round, Measurement], Iterable[Values]],
) -> Callable[[Cell, Round], Iterator[Values]]:
    def of_round(cell: Cell, round_: Round) -> Iterator[Values]:
        for measurement in round_.turn.measurements:
            for row in rows(cell, round_, measurement):
                yield {"iteration": measurement.iteration} | row

    return of_round


def _partitions(_: Cell, round_: Round, measurement: Measurement) -> Iterator[Values]:
    for partition in measurement.partitions:
        client, rates = measurement.clients[partition], measurement.rates(partition)
        switch = measurement.switch[partition]
        operations = client.server_ops + client.switch_ops
        yield {
            "partition": partition,
            "role": _role(round_, partition),
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


def _servers(cell: Cell, round_: Round, measurement: Measurement) -> Iterator[Values]:
    capacity = cell.parameters["capacity_ops_per_s"]
    for server in measurement.servers:
        yield {
            "partition": server.partition,
            "role": _role(round_, server.partition),
            "ops_per_s": server.ops_per_s,
            # As in the verdict: time in which the method held requests back is no slack.
            "utilization": server.ops_per_s / capacity + server.held_back_share
            if capacity > 0
            else None,
            "busy_share": server.busy_share,
            "socket_drops": server.socket_drops,
        }


def _role(round_: Round, partition: int) -> str:
    return "bottleneck" if partition == round_.turn.prediction.bottleneck else "rotated"
