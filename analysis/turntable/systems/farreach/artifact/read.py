"""Raw files of an imported run -> Measurement. What the artifact does not record stays unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from turntable.measurement import Event, Punctuality
from turntable.raw import RawAnswer, results
from turntable.systems.farreach.artifact.answers import COMMAND, NODE
from turntable.systems.farreach.measurement import (
    Bucketed,
    ClientPartition,
    LogicalServer,
    Measurement,
    SwitchPartition,
)
from turntable.systems.farreach.seconds import Second
from turntable_systems.farreach import popularity

_CHANGE_S, _CHANGES = 10, 6  # popularity changes at 10, 20, … 60 s
# What must agree within one file: counters of threads that go on while they are read.
_APART = 0.01
_KINDS = ("server", "switch")

Stats = Mapping[str, Any]  # of one client machine


def is_imported(answers: Sequence[RawAnswer]) -> bool:
    return bool(results(answers, NODE, COMMAND))


def read_answers(
    answers: Sequence[RawAnswer],
    iteration: int,
    partitions: tuple[int, ...],
    parameters: Mapping[str, Any],
) -> Measurement:
    """answers: of all client machines, of one iteration."""
    clients = results(answers, NODE, COMMAND)
    seconds = fmean(client["window_ns"] for client in clients) / 1e9
    of = {partition: _rows(clients, partition) for partition in partitions}
    return Measurement(
        iteration=iteration,
        partitions=partitions,
        seconds=seconds,
        retries=None,
        unanswered=None,
        in_flight_at_stop=None,
        client_socket_drops=None,
        client_threads=Punctuality(),
        clients={partition: _client(rows) for partition, rows in of.items()},
        servers=tuple(
            LogicalServer(partition, _sum(rows, "server_ops") / seconds, None, None)
            for partition, rows in of.items()
        ),
        switch={partition: SwitchPartition(None, None) for partition in partitions},
        each_second=tuple(_seconds(clients)),
        events=_events(parameters, seconds),
        contradictions=tuple(_contradictions(answers, parameters)),
        bucketed={partition: _bucketed(rows) for partition, rows in of.items()},
    )


def _rows(clients: Sequence[Stats], partition: int) -> list[Stats]:
    return [row for one in clients for row in one["partitions"] if row["partition"] == partition]


def _sum(rows: Sequence[Stats], *names: str) -> int:
    return sum(row[name] for row in rows for name in names)


def _of_kinds(rows: Sequence[Stats], name: str) -> int:
    return _sum(rows, *(f"{kind}_{name}" for kind in _KINDS))


def _client(rows: Sequence[Stats]) -> ClientPartition:
    return ClientPartition(
        server_ops=_sum(rows, "server_ops"),
        switch_ops=_sum(rows, "switch_ops"),
        requests_total=None,
        answers_total=None,
        latency_sum_ns=_of_kinds(rows, "latency_sum_ns"),
        histograms=tuple(row[f"{kind}_latency_ns"] for row in rows for kind in _KINDS),
        switch_histograms=tuple(row["switch_latency_ns"] for row in rows),
        latency_count=_of_kinds(rows, "latency_count"),
    )


def _bucketed(rows: Sequence[Stats]) -> Bucketed:
    names = ("histogram_sum_us", "histogram_count", "histogram_clamped")
    return Bucketed(*(_of_kinds(rows, name) for name in names))


def _seconds(clients: Sequence[Stats]) -> Iterator[Second]:
    """Each by its own length, from 0 on; none where a client machine lacks it."""
    by_second = [{one["second"]: one for one in client.get("seconds", ())} for client in clients]
    for index in sorted(set.intersection(*(set(rows) for rows in by_second))):
        here = [rows[index] for rows in by_second]
        length_s = fmean(one["window_ns"] for one in here) / 1e9
        partitions = [row["partition"] for row in here[0]["partitions"]]
        rows = {partition: _rows(here, partition) for partition in partitions}
        yield Second(
            index,
            {p: _of_kinds(each, "ops") / length_s for p, each in rows.items()},
            {p: _sum(each, "server_ops") / length_s for p, each in rows.items()},
            {p: _mean_us(each) for p, each in rows.items()},
            dict.fromkeys(partitions),
        )


def _mean_us(rows: Sequence[Stats]) -> float | None:
    count = _of_kinds(rows, "latency_count")
    return _of_kinds(rows, "latency_sum_ns") / 1e3 / count if count else None


def _events(parameters: Mapping[str, Any], seconds: float) -> tuple[Event, ...]:
    if not popularity.changes(parameters):
        return ()
    begun = ((_CHANGE_S * period, period) for period in range(1, _CHANGES + 1))
    return tuple(
        Event(float(at_s), f"{popularity.VERB} {period}")
        for at_s, period in begun
        if at_s < seconds
    )


def _contradictions(answers: Sequence[RawAnswer], parameters: Mapping[str, Any]) -> Iterator[str]:
    """Within what one client machine counted."""
    for answer in answers:
        one = answer.result
        where = f"{answer.host}, {one['strid']}"
        if one["elsewhere"]:
            yield f"{where}: {one['elsewhere']} operations of partitions that did not run"
        counted = _of_kinds(one["partitions"], "ops")
        if _differ(one["operations"], counted):
            yield f"{where}: totalOpsdone is {one['operations']}, its partitions have {counted}"
        for row in one["partitions"]:
            if _of_kinds([row], "ops") == 0:  # its server was not up, or nobody asked it
                yield f"{where}: partition {row['partition']} ran, but finished no operation"
        for name, fields in (("latencies", "latency_count"), ("histograms", "histogram_count")):
            number = _of_kinds(one["partitions"], fields)
            if _differ(number, counted):
                yield f"{where}: {counted} operations, but {name} of {number}"
        if missing := _missing_seconds(one, parameters):
            yield f"{where}: {missing}"


def _differ(one: int, other: int) -> bool:
    return abs(one - other) > _APART * max(one, other)


def _missing_seconds(one: Stats, parameters: Mapping[str, Any]) -> str | None:
    if "seconds" not in one:
        return None
    present = {row["second"] for row in one["seconds"]}
    missing = [second for second in range(parameters["measure_s"]) if second not in present]
    if not missing:
        return None
    listed = ", ".join(map(str, missing[:6])) + (", …" if len(missing) > 6 else "")
    return f"{len(missing)} of {parameters['measure_s']} seconds are missing: {listed}"
