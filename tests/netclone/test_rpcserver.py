"""rpcserver over the loopback: what it answers, how long it takes, what it counts."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from tests.kv.nodes import NodeError

from .conftest import Server
from .wire import (
    JITTER,
    PROBE,
    RESPONSE,
    SERVICE,
    WORK,
    Packet,
    request_id,
    uniform,
)


def exponential_us(mean_us: float, u: float) -> float:
    return -mean_us * math.log1p(-u)


def histogram_of(text: str) -> Any:
    return HdrHistogram.decode(text)


def test_an_answer_is_the_request_with_index_and_queue(server: Server) -> None:
    server.prepare()
    sent = Packet(
        seq=7,
        grp=3,
        sid=1,
        load=99,
        clo=1,
        tidx=1,
        request=request_id(5, 77),
        sent_at_ns=123456789,
        client=5,
        operation=WORK,
        object=4711,
    )
    server.send(sent)
    answer = server.answer()
    expected = Packet(**(vars(sent) | {"op": RESPONSE, "sid": 2, "load": 0}))
    assert answer == expected


def test_workers_serve_side_by_side_and_others_wait(server: Server) -> None:
    server.prepare()
    begin = time.monotonic()
    for number in range(4):
        server.send(Packet(request=number))
    answers = server.answers(4)
    assert time.monotonic() - begin >= 0.04  # two rounds of two workers
    assert [answer.request for answer in answers] == [0, 1, 2, 3]
    # The first answer leaves while two wait, the second one while the last waits.
    assert [answer.load for answer in answers] == [2, 1, 0, 0]
    assert [answer.flags for answer in answers] == [0, 0, 1, 1]


def test_service_times_are_those_that_were_drawn(server: Server) -> None:
    mean_us, requests, seed = 2000, 300, 41
    server.prepare(
        workers=1000,
        seed=seed,
        service={"distribution": "exponential", "mean_us": mean_us / 10},
        dilation=10,
        jitter={"probability": 0.1, "factor": 5},
    )
    server.open_window()
    for first in range(0, requests, 100):  # so many fit into the receiving socket
        for number in range(first, first + 100):
            server.send(Packet(request=request_id(3, number), client=3, clo=number % 3))
        server.answers(100)
    planned_us = 0.0
    for number in range(requests):
        request, copy = request_id(3, number), 1 if number % 3 == 2 else 0
        us = exponential_us(mean_us, uniform(seed, SERVICE, request, copy))
        planned_us += us * (5 if uniform(seed, JITTER, request, copy) < 0.1 else 1)
    stats = server.stats()
    assert stats["answered"] == requests
    assert stats["planned_work_ns"] / 1000 == pytest.approx(planned_us, abs=requests * 0.001)
    # Slots were held longer by what answers were late.
    late_ns = histogram_of(stats["work_error_ns"]).get_mean_value() * requests
    assert stats["busy_slot_ns"] - stats["planned_work_ns"] == pytest.approx(late_ns, rel=0.01)


def test_clones_are_dropped_while_others_wait(server: Server) -> None:
    server.prepare(workers=1)
    server.open_window()
    server.send(Packet(request=0))
    server.send(Packet(request=1, clo=2))  # all workers are busy, but nobody waits
    server.send(Packet(request=2, clo=2))
    server.send(Packet(request=3, clo=1))
    assert [answer.request for answer in server.answers(3)] == [0, 1, 3]
    stats = server.stats()
    assert (stats["received"], stats["clones_received"], stats["clones_dropped"]) == (4, 2, 1)
    assert stats["answered"] == 3


def test_clones_are_served_where_prepare_says_so(server: Server) -> None:
    server.prepare(workers=1, drop_clones=False)
    for number in range(3):
        server.send(Packet(request=number, clo=2))
    assert [answer.request for answer in server.answers(3)] == [0, 1, 2]
    assert server.stats()["clones_dropped_total"] == 0


def test_reports_of_empty_queues_are_counted(server: Server) -> None:
    server.prepare(workers=1)
    server.open_window()
    server.send(Packet(request=0))
    server.send(Packet(request=1))
    assert [answer.load for answer in server.answers(2)] == [1, 0]
    stats = server.stats()
    assert (stats["answers_empty"], stats["answers_empty_all_busy"]) == (1, 1)
    queue = histogram_of(stats["queue_length"])
    assert (queue.total_count, queue.get_max_value()) == (2, 0)


def test_a_probe_is_answered_while_all_workers_are_busy(server: Server) -> None:
    server.prepare(workers=1, service={"distribution": "fixed", "us": 500_000})
    for number in range(3):
        server.send(Packet(request=number))
    server.send(Packet(request=9, operation=PROBE))
    answer = server.answer()
    assert (answer.request, answer.operation, answer.load) == (9, PROBE, 2)
    assert server.stats()["probes"] == 1


def test_malformed_packets_are_counted_and_not_answered(server: Server) -> None:
    server.prepare()
    good = bytes(Packet(request=1))
    for bad in (
        b"",
        good[:-1],
        good + b"\0",
        bytes(Packet(op=RESPONSE)),
        bytes(Packet(op=2)),
        bytes(Packet(clo=3)),
        bytes(Packet(tidx=2)),
        bytes(Packet(operation=4)),
        bytes(Packet(client=1)),
    ):
        server.send(bad)
    server.send(good)
    assert server.answer().request == 1
    stats = server.stats()
    assert (stats["malformed"], stats["received_total"]) == (9, 1)


def test_capacity_is_that_of_the_workers(server: Server) -> None:
    """An overloaded server is busy all the time: lateness of its thread costs nothing."""
    service_us, workers, requests = 5000, 4, 150
    server.prepare(workers=workers, service={"distribution": "fixed", "us": service_us})
    server.open_window()
    begin = time.monotonic()
    for number in range(requests):
        server.send(Packet(request=number))
    server.answers(requests)
    stats = server.stats()
    assert time.monotonic() - begin >= requests * service_us / workers / 1e6
    assert stats["planned_work_ns"] == requests * service_us * 1000
    assert stats["busy_slot_ns"] > stats["planned_work_ns"]
    assert histogram_of(stats["work_error_ns"]).total_count == requests
    # Work that began late began where the one before it ended: the waits are those of a queue.
    assert histogram_of(stats["fifo_wait_ns"]).get_max_value() > 150_000_000


def test_threads_that_spin_hold_the_processor_as_long_as_was_drawn(server: Server) -> None:
    service_us = 20_000
    prepared = server.prepare(mode="spin", workers=1)
    server.open_window(seconds=2)
    begin = time.monotonic()
    for number in range(3):
        server.send(Packet(request=number))
    answers = server.answers(3)
    # A loop that was calibrated: never much too short, longer where others had the processor.
    assert time.monotonic() - begin >= 0.5 * 3 * service_us / 1e6
    assert [answer.load for answer in answers] == [2, 1, 0]
    assert [answer.flags for answer in answers] == [0, 1, 1]
    assert prepared["calibration"]["error"] > -0.5
    stats = server.stats()
    assert stats["calibration"] == prepared["calibration"]
    assert stats["planned_work_ns"] == 3 * service_us * 1000
    assert (stats["answered"], stats["mode"], stats["slots"]) == (3, "spin", 1)


def test_threads_that_spin_drop_clones_and_answer_probes(server: Server) -> None:
    server.prepare(mode="spin", workers=1, service={"distribution": "fixed", "us": 300_000})
    for number, clo in enumerate((0, 2, 2)):
        server.send(Packet(request=number, clo=clo))
    server.send(Packet(request=9, operation=PROBE))
    assert [answer.request for answer in server.answers(3)] == [9, 0, 1]
    assert server.stats()["clones_dropped_total"] == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"server": 16}, '"server" is 16; expected an integer from 0 to 15'),
        ({"workers": 0}, '"workers" is 0; expected an integer from 1 to 1024'),
        ({"mode": "fast"}, '"mode" is "fast"; expected slots, spin or redis'),
        (
            {"service": {"distribution": "exp26"}},
            'rpcserver prepare, service: "distribution" is "exp26"; expected fixed, exponential',
        ),
        (
            {"jitter": {"probability": 2, "factor": 15}},
            'rpcserver prepare, jitter: "probability" is 2; expected a number from 0.0 to 1.0',
        ),
        ({"sever": 1}, 'argument "sever" is unknown'),
    ],
)
def test_wrong_arguments_are_named(server: Server, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(NodeError) as error:
        server.prepare(**changes)
    assert error.value.code == "bad_argument"
    assert message in error.value.message


def test_commands_out_of_order_are_refused(server: Server) -> None:
    with pytest.raises(NodeError, match="send `prepare` first"):
        server.stats()
    server.prepare()
    with pytest.raises(NodeError, match="an instant to come"):
        server.node.call("start", measure_from_ns=1, measure_until_ns=2)
    server.node.call("stop")
    with pytest.raises(NodeError, match="send `prepare` first"):
        server.stats()


def test_a_second_prepare_begins_anew(server: Server) -> None:
    server.prepare()
    server.open_window()
    server.send(Packet(request=1))
    server.answer()
    server.prepare(server=1)
    assert server.stats()["received_total"] == 0
    server.send(Packet(request=2))
    assert server.answer().sid == 1
