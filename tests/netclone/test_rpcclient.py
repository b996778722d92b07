"""rpcclient over the loopback: what it sends by each method, and how its counts agree with those of
servers and coordinator. Draws are computed here once more (wire.py)."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from tests.kv.nodes import Node, NodeError, running
from tests.kv.ports import free_port

from .conftest import ADDRESS
from .wire import PROBE, RESPONSE, Packet, packet_of, request_id, uniform

SERVER, SECOND_SERVER, GROUP, TABLE = 1, 2, 3, 4  # streams
SEED = 19
SERVERS = 3
GROUPS = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]  # of three servers, from group 1 on

SO_RCVBUFFORCE = 33  # of asm-generic/socket.h; Python does not name it


class Played:
    """Servers, or a switch in front of them, that the test plays: answer everything at once."""

    def __init__(self, count: int) -> None:
        self.sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
        self.requests: list[list[Packet]] = [[] for _ in range(count)]
        for each in self.sockets:
            # Room for all requests of a test: on a busy machine they are read late.
            each.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
            each.bind((ADDRESS, 0))
        self._threads = [
            threading.Thread(target=self._serve, args=(index,)) for index in range(count)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def addresses(self) -> list[dict[str, Any]]:
        return [{"address": ADDRESS, "port": each.getsockname()[1]} for each in self.sockets]

    def _serve(self, index: int) -> None:
        while True:
            datagram, sender = self.sockets[index].recvfrom(2048)
            if not datagram:
                return
            request = packet_of(datagram)
            if request.operation != PROBE:
                self.requests[index].append(request)
            # As the switch: the first server of the group answers.
            server = GROUPS[request.grp - 1][0] if request.grp else index
            answer = Packet(**(vars(request) | {"op": RESPONSE, "sid": server}))
            self.sockets[server].sendto(bytes(answer), sender)

    def close(self) -> None:
        for each in self.sockets:
            each.sendto(b"", each.getsockname())
        for thread in self._threads:
            thread.join()
        for each in self.sockets:
            each.close()


@pytest.fixture
def played() -> Iterator[Played]:
    played = Played(SERVERS)
    yield played
    played.close()


@pytest.fixture
def client(build_dir: Path, tmp_path: Path) -> Iterator[Node]:
    with running(build_dir / "bin" / "rpcclient", tmp_path, "--address", ADDRESS) as node:
        yield node


def prepare(client: Node, method: str, servers: list[dict[str, Any]], **more: Any) -> Any:
    arguments = {
        "method": method,
        "clients": [0, 1],
        "clients_total": 2,
        "servers": servers,
        "rate_per_s": 1000,
        "seed": SEED,
    }
    return client.call("prepare", **(arguments | more))


def play(client: Node, measure_s: float = 0.4, drain_s: float = 20) -> Any:
    client.call(
        "start",
        start_at_ns=time.time_ns() + 300_000_000,
        warmup_ns=100_000_000,
        measure_ns=int(measure_s * 1e9),
        drain_ns=int(drain_s * 1e9),
    )
    client.call("wait", deadline_s=60)
    return client.call("stats")


def ids(requests: list[Packet]) -> list[int]:
    return [request.request for request in requests]


def test_noclone_sends_each_request_to_the_server_that_was_drawn(
    client: Node, played: Played
) -> None:
    prepare(client, "noclone", played.addresses)
    stats = play(client)
    numbers: dict[int, set[int]] = {0: set(), 1: set()}
    for server, requests in enumerate(played.requests):
        for request in requests:
            assert server == int(SERVERS * uniform(SEED, SERVER, request.request))
            assert (request.op, request.grp, request.clo) == (0, 0, 0)
            assert request.request == request_id(request.client, request.request % 2**48)
            numbers[request.client].add(request.request % 2**48)
    for sent in numbers.values():
        assert sent == set(range(len(sent)))  # all of them, once
    assert stats["requests_total"] == sum(len(sent) for sent in numbers.values())
    assert stats["received_packets"] == stats["requests_total"]


def test_cclone_sends_two_copies_to_two_servers(client: Node, played: Played) -> None:
    prepare(client, "cclone", played.addresses)
    stats = play(client)
    places: dict[int, dict[int, int]] = {}
    for server, requests in enumerate(played.requests):
        for request in requests:
            assert places.setdefault(request.request, {}).setdefault(request.clo, server) == server
    for request_, copies in places.items():
        first = int(SERVERS * uniform(SEED, SERVER, request_))
        second = int((SERVERS - 1) * uniform(SEED, SECOND_SERVER, request_))
        assert copies == {1: first, 2: second + (second >= first)}
    assert stats["sent_packets"] == 2 * len(places)
    assert stats["cloned_answers"] == stats["offered"]


@pytest.mark.parametrize("method", ["netclone", "netclone-racksched"])
def test_netclone_draws_group_and_table_and_sends_to_the_switch(
    method: str, client: Node, played: Played
) -> None:
    gate = played.addresses[0]
    prepare(client, method, played.addresses, switch_server_address=gate)
    stats = play(client)
    assert not played.requests[1] and not played.requests[2]
    for request in played.requests[0]:
        assert request.grp == 1 + int(len(GROUPS) * uniform(SEED, GROUP, request.request))
        assert request.tidx == int(2 * uniform(SEED, TABLE, request.request))
        assert (request.clo, request.seq) == (0, 0)
    assert stats["requests_total"] == len(played.requests[0])


def test_the_send_time_travels_as_time_of_day(client: Node, played: Played) -> None:
    begin = time.time_ns()
    prepare(client, "noclone", played.addresses)
    play(client)
    for request in itertools.chain(*played.requests):
        assert begin < request.sent_at_ns < time.time_ns()


def test_a_server_that_is_not_there_is_named(client: Node, played: Played) -> None:
    port = free_port()
    servers = [played.addresses[0], {"address": ADDRESS, "port": port}]
    with pytest.raises(NodeError, match=f"server 1 .{ADDRESS}, UDP port {port}. answered no probe"):
        prepare(client, "noclone", servers, probe_deadline_ms=2000)


def test_a_trace_gives_the_gaps(client: Node, played: Played, tmp_path: Path) -> None:
    """One request every 10 ms on average: 10 and 30 ms in turn, stretched to it."""
    trace = tmp_path / "gaps.txt"
    trace.write_text("1\n3\n")
    prepare(
        client,
        "noclone",
        played.addresses,
        clients=[0],
        clients_total=1,
        rate_per_s=100,
        arrivals={"process": "trace", "file": str(trace)},
    )
    stats = play(client, measure_s=0.4)
    # Instants from 0 on: 5, 20, 25, 40, ... ms; of the window from 100 to 500 ms: 100, 105, ...
    assert stats["offered"] == 40
    assert stats["requests_total"] == 49


WORK = {
    "dilation": 10,
    "service": {"distribution": "exponential", "mean_us": 100},
    "jitter": {"probability": 0.01, "factor": 5},
}


@pytest.fixture
def servers(build_dir: Path, tmp_path: Path) -> Iterator[list[tuple[Node, int]]]:
    """Two rpcservers of four workers: 8,000 requests/s."""
    nodes: list[tuple[Node, int]] = []
    started = []
    try:
        for index in range(2):
            directory = tmp_path / f"server-{index}"
            directory.mkdir()
            port = free_port()
            options = ("--address", ADDRESS, "--port", str(port))
            context = running(build_dir / "bin" / "rpcserver", directory, *options)
            nodes.append((context.__enter__(), port))
            started.append(context)
            arguments = WORK | {"server": index, "mode": "slots", "workers": 4, "seed": SEED}
            nodes[-1][0].call("prepare", **arguments, drop_clones=False)
        yield nodes
    finally:
        for context in started:
            context.__exit__(None, None, None)


def test_counts_agree_with_servers_and_replay(
    client: Node, servers: list[tuple[Node, int]]
) -> None:
    addresses = [{"address": ADDRESS, "port": port} for _, port in servers]
    prepare(client, "cclone", addresses, work=WORK | {"workers": 4, "drop_clones": False})
    stats = play(client, measure_s=1)
    assert stats["lost"] == 0
    received = sum(node.call("stats")["received_total"] for node, _ in servers)
    assert received == stats["sent_packets"]
    replay = client.call("replay")
    assert replay["offered"] == stats["offered"]
    assert replay["requests"] == stats["requests_total"]
    assert replay["copies"] == stats["sent_packets"]
    histogram = HdrHistogram.decode(stats["latency_ns"])
    assert histogram.get_total_count() == stats["offered"]
    # Real servers are not quicker than simulated ones; how much slower is the machine's business.
    simulated = HdrHistogram.decode(replay["latency_ns"])
    assert histogram.get_mean_value() > 0.9 * simulated.get_mean_value()


def test_laedge_through_its_coordinator(
    build_dir: Path, tmp_path: Path, servers: list[tuple[Node, int]]
) -> None:
    """The coordinator answers to addresses that it was told."""
    addresses = [{"address": ADDRESS, "port": port} for _, port in servers]
    here, there = ({"address": ADDRESS, "port": free_port()} for _ in range(2))

    def started(name: str, endpoint: dict[str, Any]) -> Any:
        options = ("--address", ADDRESS, "--port", str(endpoint["port"]))
        return running(build_dir / "bin" / name, tmp_path, *options)

    with (
        started("laedge-coordinator", there) as coordinator,
        started("rpcclient", here) as client,
    ):
        where = {"servers": addresses, "clients": [here]}
        coordinator.call("prepare", mode="slots", workers=4, seed=SEED, **where)
        alone = {"clients": [0], "clients_total": 1, "probes": 5}
        prepare(client, "laedge", addresses, coordinator=there, **alone)
        before = coordinator.call("stats")
        stats = play(client)
        after = coordinator.call("stats")
    counts = {name: after[name] - before[name] for name in ("requests", "forwarded", "cloned")}
    assert stats["lost"] == 0
    assert stats["redundant"] == 0
    assert counts["requests"] == stats["requests_total"]
    # Answers to the last probes' slower copies may have been under way.
    assert counts["forwarded"] == stats["received_packets"]
    assert 0 < counts["cloned"] <= counts["requests"]
    assert after["unknown"] == 0
