"""Homa beside Linux's TCP: calls of 100 bytes, and of 1 MB, over one veth without shaping.

The same two programs, msgbench-client and msgbench-server, with one transport or the other. The
client wants to send more than it can, and has a fixed number of calls under way.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .comparison import OURS, YARDSTICK, Comparison, Outcome, Unit, alternate_all
from .namespaces import CLIENT_ADDRESS, SERVER_ADDRESS, Hosts, direct_hosts, enter
from .processes import Node, node, pinned
from .settings import Settings

CLIENT_CPU, SERVER_CPU = 0, 1
CLIENT_PORT, SERVER_PORT = 7471, 7472
LEAD_MS, WARMUP_MS, MEASURE_MS, DRAIN_MS = 100, 300, 1500, 300

# Payload of a packet is what an MTU of 1500 leaves, and RTTbytes are seven of it, as the paper's.
PAYLOAD_BYTES = 1442
HOMA = {
    "kind": "homa",
    "payload_bytes": PAYLOAD_BYTES,
    "rtt_bytes": 7 * PAYLOAD_BYTES,
    "levels": 1,
    "tick_ms": 100,
}


@dataclass(frozen=True)
class Load:
    """Calls of one size, so many under way, which TCP spreads over its connections."""

    name: str
    size: int
    under_way: int
    connections: int
    offered_bps: float  # more than either transport can carry
    unit: Unit
    goal: float | None = None  # for processor time


LOADS = (
    Load("100 B, one under way", 100, 1, 1, 400e6, Unit.CALLS_PER_S, goal=1),
    Load("100 B, 64 connections", 100, 64, 64, 400e6, Unit.CALLS_PER_S, goal=1),
    # TCP sends several messages in a segment, Homa never does in a packet.
    Load("100 B, 8 connections with 8 calls", 100, 64, 8, 800e6, Unit.CALLS_PER_S),
    Load("1 MB", 1_000_000, 8, 8, 40e9, Unit.MBPS),
)


def measure(settings: Settings) -> list[Outcome]:
    with direct_hosts("m") as hosts:
        return [outcome for load in LOADS for outcome in _compare(settings, hosts, load)]


def _compare(settings: Settings, hosts: Hosts, load: Load) -> list[Outcome]:
    def comparison(what: str, unit: Unit, goal: float | None = None) -> Comparison:
        return Comparison(f"messages, {load.name}: {what}", "tcp", "homa", unit, goal)

    tcp = {"kind": "tcp", "connections": load.connections}
    return alternate_all(
        [
            comparison("rate" if load.unit is Unit.CALLS_PER_S else "goodput", load.unit),
            comparison("both ends' time", Unit.CPU_US_PER_CALL, load.goal),
        ],
        settings.rounds,
        {
            YARDSTICK: functools.partial(_measure, settings, hosts, load, tcp),
            OURS: functools.partial(_measure, settings, hosts, load, HOMA),
        },
    )


def _measure(
    settings: Settings, hosts: Hosts, load: Load, transport: Mapping[str, Any]
) -> Sequence[float]:
    """In the load's unit; then microseconds of processor time of a call."""
    server_argv = [*enter(hosts.server), *pinned(SERVER_CPU, [])]
    client_argv = [*enter(hosts.client), *pinned(CLIENT_CPU, [])]
    server_words = ["--address", SERVER_ADDRESS, "--port", str(SERVER_PORT)]
    client_words = ["--address", CLIENT_ADDRESS, "--port", str(CLIENT_PORT)]
    with (
        node(settings.binary("msgbench-server"), server_argv, server_words) as server,
        node(settings.binary("msgbench-client"), client_argv, client_words) as client,
    ):
        clients = [{"address": CLIENT_ADDRESS, "port": CLIENT_PORT}]
        server.call("prepare", transport=transport, clients=clients, realtime=True)
        client.call(
            "prepare",
            transport=transport,
            servers=[{"address": SERVER_ADDRESS, "port": SERVER_PORT}],
            client=0,
            seed=1,
            sizes={"bytes": load.size},
            payload_bps=load.offered_bps,
            outstanding=load.under_way,
            realtime=True,
        )
        return _play(client, server, load)


def _play(client: Node, server: Node, load: Load) -> Sequence[float]:
    """Processor time is that of everything, and so are the calls that it is divided by."""
    before = client.cpu_s() + server.cpu_s()
    client.start(LEAD_MS, WARMUP_MS, MEASURE_MS, DRAIN_MS)
    client.call("wait", deadline_s=60)
    cpu_s = client.cpu_s() + server.cpu_s() - before
    executed = server.call("stats")["transport"]["executed"]
    statistics = client.call("stats")
    if statistics["wrong"] or statistics["aborted"]:
        raise RuntimeError(f"{statistics['wrong']} wrong answers, {statistics['aborted']} aborted")
    answered = sum(second["answered"] for second in statistics["seconds"])
    per_s = answered * 1e9 / statistics["window_ns"]
    rate = per_s if load.unit is Unit.CALLS_PER_S else per_s * load.size * 8 / 1e6
    return rate, cpu_s * 1e6 / executed
