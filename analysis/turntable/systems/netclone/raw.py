"""Fields of the nodes' raw statistics (docs/netclone.md, Raw statistics) -> Measurement.

The only place that knows their names; turntable.raw knows those of hosts and of the switch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from hdrh.histogram import HdrHistogram

from turntable import raw
from turntable.measurement import Punctuality
from turntable.raw import BEGIN, COLLECT, RawAnswer, results, results_of_several
from turntable.systems.netclone.measurement import (
    Clients,
    Coordinator,
    Measurement,
    Server,
)
from turntable.systems.netclone.switch_counts import dropped, read_switch
from turntable.systems.netclone.times import mean_of, undilated
from turntable_systems.netclone.prediction import Prediction, from_answer

Stats = Mapping[str, Any]  # of one node

# What must not happen at all: each of these counts is an error of the system under test.
_CLIENT_ERRORS = ("malformed", "unknown", "not_mine", "send_errors", "receive_errors")
_REDIS_ERRORS = ("wrong", "failed")
_COORDINATOR = "laedge-coordinator"
_COORDINATOR_ERRORS = ("malformed", "unknown", "no_client", "send_errors", "receive_errors")
_SERVER_ERRORS = ("malformed", "send_errors", "receive_errors")


def read_answers(
    answers: Sequence[RawAnswer],
    iteration: int,
    parameters: Mapping[str, Any],
    overhead_s: float | None,
) -> Measurement:
    """answers: of every host, in all phases of one attempt."""
    clients = results(answers, "rpcclient", "stats")
    servers = results_of_several(answers, "rpcserver", "stats")
    switch = read_switch(answers, parameters)
    return Measurement(
        iteration=iteration,
        seconds=fmean(client["window_ns"] for client in clients) / 1e9,
        overhead_s=overhead_s,
        errors=raw.errors("client", clients, _CLIENT_ERRORS)
        | raw.errors("server", servers, _SERVER_ERRORS)
        | raw.errors("redis", [s["redis"] for s in servers if s.get("redis")], _REDIS_ERRORS)
        | raw.errors("coordinator", results(answers, _COORDINATOR, "stats"), _COORDINATOR_ERRORS),
        start_lateness_us=max(client["start_late_us"] for client in clients),
        end_lateness_us=max(client["window_late_us"] for client in clients),
        hosts=raw.hosts(answers),
        switch_thread=raw.switch_thread(answers),
        switch_drops=raw.switch_drops(answers, {"ingress_drop": dropped(answers)}),
        clients=_clients(clients),
        servers=tuple(_server(server) for server in servers),
        switch=switch,
        coordinator=_coordinator(answers),
        replay=_replay(answers),
        client_threads=_threads(clients),
    )


def _clients(hosts: Sequence[Stats]) -> Clients:
    def total(field: str) -> int:
        return sum(host[field] for host in hosts)

    def texts(field: str) -> tuple[str, ...]:
        return tuple(host[field] for host in hosts)

    return Clients(
        offered=total("offered"),
        delivered=total("delivered"),
        lost=total("lost") + total("unsent"),
        withheld=total("withheld"),
        clamped=total("latency_clamped"),
        redundant=total("redundant_window"),
        cloned_answers=total("cloned_answers"),
        sent_total=total("sent_packets"),
        received_total=total("received_packets"),
        socket_drops=total("socket_drops"),
        latency=texts("latency_ns"),
        send_late=texts("send_late_ns"),
        first_half=tuple(host["halves"][0] for host in hosts),
        second_half=tuple(host["halves"][1] for host in hosts),
        path_delay_us=fmean(host["path_delay_ns"] for host in hosts) / 1e3,
        credit_delay_us=_credit_delay_us(hosts),
        per_second=_per_second(hosts),
    )


def _credit_delay_us(hosts: Sequence[Stats]) -> float | None:
    """Mean of the servers that answered; None without laedge."""
    known = [
        delay_ns
        for host in hosts
        for delay_ns in host.get("credit_delay_by_server_ns", ())
        if delay_ns is not None
    ]
    return fmean(known) / 1e3 if known else None


def _per_second(hosts: Sequence[Stats]) -> list[dict[str, float]]:
    """Sums over the hosts, second by second."""
    rows = zip(*(host["seconds"] for host in hosts), strict=True)
    return [
        {name: sum(row[name] for row in second) for name in ("offered", "delivered")}
        for second in rows
    ]


def _server(stats: Stats) -> Server:
    return Server(
        slots=stats["slots"],
        received=stats["received"],
        longest_queue=_longest(stats["queue_length"]),
        clones_received=stats["clones_received"],
        clones_dropped=stats["clones_dropped"],
        answered=stats["answered"],
        answers_empty=stats["answers_empty"],
        answers_empty_all_busy=stats["answers_empty_all_busy"],
        busy_s=stats["busy_slot_ns"] / 1e9,
        lost_s=stats["lost_ns"] / 1e9,
        planned_s=stats["planned_work_ns"] / 1e9,
        work_error=stats["work_error_ns"],
        work_error_s=_mean_s(stats["work_error_ns"]),
        received_total=stats["received_total"],
        answered_total=stats["answered_total"],
        clones_dropped_total=stats["clones_dropped_total"],
        socket_drops=stats["socket_drops"],
    )


def _longest(queue_length: str) -> int:
    return HdrHistogram.decode(queue_length).get_max_value()


def _mean_s(text: str) -> float:
    merged = undilated([text], 1.0)
    return mean_of(merged) / 1e6 if merged.values else 0.0


def _coordinator(answers: Sequence[RawAnswer]) -> Coordinator | None:
    """From the begin of the measurement to its end: before, it has passed clients' probes on."""
    stats = {
        answer.phase: answer.result
        for answer in answers
        if (answer.node, answer.command) == (_COORDINATOR, "stats")
    }
    if not stats:
        return None
    before, after = stats[BEGIN], stats[COLLECT]
    names = ("requests", "cloned", "queue_full", "forwarded", "redundant")
    grown = {name: after[name] - before[name] for name in names}
    waited_ns = after["wait_ns"]
    return Coordinator(
        **grown,
        queue_length=after["queue_length"],
        socket_drops=after["socket_drops"],
        wait_share=None if waited_ns is None else waited_ns / after["window_ns"],
    )


def _replay(answers: Sequence[RawAnswer]) -> Prediction | None:
    for result in results(answers, "rpcclient", "replay"):
        return from_answer(result)
    return None


def _threads(hosts: Sequence[Stats]) -> Punctuality:
    threads = [(host, thread) for host in hosts for thread in host["threads"]]
    waits = [
        thread["wait_ns"] / host["window_ns"]
        for host, thread in threads
        if thread["wait_ns"] is not None
    ]
    late_us = max(thread["read_late_max_us"] for _, thread in threads)
    return Punctuality(late_us, max(waits, default=None))
