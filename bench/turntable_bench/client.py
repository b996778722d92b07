"""Processor time of kvclient beside YCSB's own client: workload A, as many clients as threads.

Over UDP also beside bare sockets, which cost what the kernel takes for so many datagrams.

Over UDP both talk to one echo server, which answers in the packet format without a store. In
memory nobody is talked to: kvclient's generator and statistics beside YCSB with a database that
does nothing. kvclient makes its traces before it sends; it pays for the operations that it sends.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator
from pathlib import Path

from .comparison import OURS, YARDSTICK, Comparison, Outcome, Unit, alternate, alternate_all
from .java import classpath, ycsb_cpu_s
from .namespaces import SERVER_ADDRESS, UDP_PORT, Hosts, direct_hosts, enter
from .nodes import client_node, play, prepare
from .processes import (
    Argv,
    cpu_ns_per_operation,
    cpu_seconds,
    pinned,
    run,
    running,
    softirq_seconds,
    wait_ready,
)
from .settings import Settings

CLIENTS = 64
GENERATED = 1_000_000  # operations; more than are sent
BARE_PORT = 7000
MEAN_BYTES = 90  # of requests, and of answers: half GETs, half PUTs, values of 128 B
CLIENT_CPU, SERVER_CPU = 0, 1
GOALS = {"sockets": 3.0, "af_xdp": 4.0}  # by means


def measure(settings: Settings) -> list[Outcome]:
    classpath(settings.build)  # says what is missing before anything is measured
    return [
        *_over_udp(settings),
        _beside_bare_sockets(settings),
        _in_memory(settings, CLIENTS),
        _in_memory(settings, 1),
    ]


def _over_udp(settings: Settings) -> list[Outcome]:
    """kvclient by each means beside YCSB; and what both cost the server and in soft interrupts,
    since a veth has the receiver's work done by the sender.
    """
    comparisons = [
        Comparison(
            f"client: over UDP by {means}, {CLIENTS} clients{whose}",
            "YCSB",
            "kvclient",
            Unit.CPU_NS_PER_OP,
            goal=goal if whose == "" else None,
        )
        for means, goal in GOALS.items()
        for whose in ("", ", their server", ", soft interrupts")
    ]
    with (
        direct_hosts("c") as hosts,
        _serving(hosts, [settings.binary("kv-echo")]) as server,
    ):
        sides = {
            YARDSTICK: lambda: _ycsb_over_udp(settings, hosts, server) * len(GOALS),
            OURS: lambda: tuple(
                number
                for means in GOALS
                for number in _kvclient_over_udp(settings, hosts, server, means)
            ),
        }
        return alternate_all(comparisons, settings.rounds, sides)


def _beside_bare_sockets(settings: Settings) -> Outcome:
    comparison = Comparison(
        f"client: over UDP, {CLIENTS} clients, beside bare sockets",
        "udp-pingpong",
        "kvclient",
        Unit.CPU_NS_PER_OP,
    )
    echo = [settings.binary("udp-pingpong"), "server", "--udp-port", str(BARE_PORT)]
    with (
        direct_hosts("b") as hosts,
        _serving(hosts, [settings.binary("kv-echo")]) as server,
        _serving(hosts, echo),
    ):
        sides = {
            YARDSTICK: functools.partial(_bare_sockets, settings, hosts),
            OURS: lambda: _kvclient_over_udp(settings, hosts, server, "sockets")[0],
        }
        return alternate(comparison, settings.rounds, sides)


@contextlib.contextmanager
def _serving(hosts: Hosts, argv: Argv) -> Iterator[int]:
    """The process of an echo server on the server host's address, for the time of the context."""
    echo = pinned(SERVER_CPU, [*argv, "--address", SERVER_ADDRESS])
    with running([*enter(hosts.server), *echo]) as server:
        wait_ready(server, Path(argv[0]).name)
        yield server.pid


def _bare_sockets(settings: Settings, hosts: Hosts) -> float:
    load = [
        *[settings.binary("udp-pingpong"), "client"],
        *["--address", SERVER_ADDRESS, "--udp-port", str(BARE_PORT)],
        *["--outstanding", str(CLIENTS), "--flows", "1", "--payload-bytes", str(MEAN_BYTES)],
        *["--warmup", "0.2", "--seconds", "1.5"],
    ]
    done = run([*enter(hosts.client), *pinned(CLIENT_CPU, load)])
    return done.cpu_s * 1e9 / json.loads(done.output)["pairs_in_all"]


def _ycsb_over_udp(settings: Settings, hosts: Hosts, server: int) -> tuple[float, ...]:
    """ns per operation: of YCSB, of its server, of soft interrupts."""
    store = {"udp.address": SERVER_ADDRESS, "udp.port": UDP_PORT}
    others: list[float] = []

    def cpu_s(operations: int) -> float:
        before = (cpu_seconds(server), softirq_seconds())
        of_client = ycsb_cpu_s(
            settings.build,
            [*enter(hosts.client), *pinned(CLIENT_CPU, [])],
            "turntable.bench.UdpStore",
            CLIENTS,
            store,
            operations,
        )
        after = (cpu_seconds(server), softirq_seconds())
        others[:] = [(b - a) * 1e9 / operations for a, b in zip(before, after, strict=True)]
        return of_client

    of_client = cpu_ns_per_operation(cpu_s, 50_000, 200_000)
    return (of_client, *others)  # of the long run: only the client has a start-up


def _kvclient_over_udp(
    settings: Settings, hosts: Hosts, server: int, means: str
) -> tuple[float, ...]:
    """The same of kvclient."""
    workload = {"name": "workloada", "clients": CLIENTS, "operations": GENERATED}
    prefix = [*enter(hosts.client), *pinned(CLIENT_CPU, [])]
    with client_node(settings, prefix, means) as client:
        before = client.cpu_s()
        prepare(client, workload, SERVER_ADDRESS, UDP_PORT)
        prepared, of_server, soft = client.cpu_s(), cpu_seconds(server), softirq_seconds()
        sent = play(client)
        of_client = ns_per_sent(prepared - before, client.cpu_s() - prepared, GENERATED, sent)
        of_server = (cpu_seconds(server) - of_server) * 1e9 / sent
        return of_client, of_server, (softirq_seconds() - soft) * 1e9 / sent


def ns_per_sent(prepare_s: float, play_s: float, generated: int, sent: int) -> float:
    """Processor time of one operation in ns, from the seconds of both phases.

    Traces are longer than what is sent of them; generating costs the same for each operation, so
    only the part that was sent is charged. A trace that has been played to its end is played again.
    """
    return (prepare_s * min(1, sent / generated) + play_s) * 1e9 / sent


def _in_memory(settings: Settings, threads: int) -> Outcome:
    comparison = Comparison(
        f"client: in memory, {CLIENTS} clients, YCSB with {threads}",
        "YCSB",
        "kvclient",
        Unit.CPU_NS_PER_OP,
        goal=3,
    )
    pin = pinned(CLIENT_CPU, [])
    silent = {"basicdb.verbose": "false"}

    def ycsb(operations: int) -> float:
        return ycsb_cpu_s(settings.build, pin, "site.ycsb.BasicDB", threads, silent, operations)

    def kvclient(operations: int) -> float:
        program = settings.binary("kvclient-in-memory")
        options = ["--clients", str(CLIENTS), "--operations", str(operations)]
        return run([*pin, program, *options]).cpu_s

    sides = {
        YARDSTICK: lambda: cpu_ns_per_operation(ycsb, 1_000_000, 5_000_000),
        OURS: lambda: cpu_ns_per_operation(kvclient, 1_000_000, 5_000_000),
    }
    return alternate(comparison, settings.rounds, sides)
