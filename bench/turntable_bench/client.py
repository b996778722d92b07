"""Processor time of kvclient beside YCSB's own client: workload A, as many clients as threads.

Over UDP both talk to one echo server, which answers in the packet format without a store. In
memory nobody is talked to: kvclient's generator and statistics beside YCSB with a database that
does nothing. kvclient pays for its traces, which it makes before it sends, in both.
"""

from __future__ import annotations

import functools

from .comparison import OURS, YARDSTICK, Comparison, Outcome, Unit, alternate
from .java import classpath, ycsb_cpu_s
from .namespaces import SERVER_ADDRESS, UDP_PORT, Hosts, direct_hosts, enter
from .nodes import client_node, play
from .processes import cpu_ns_per_operation, pinned, run, running, wait_ready
from .settings import Settings

CLIENTS = 64
CLIENT_CPU, SERVER_CPU = 0, 1


def measure(settings: Settings) -> list[Outcome]:
    classpath(settings.build)  # says what is missing before anything is measured
    return [_over_udp(settings), _in_memory(settings, CLIENTS), _in_memory(settings, 1)]


def _over_udp(settings: Settings) -> Outcome:
    comparison = Comparison(
        f"client: over UDP, {CLIENTS} clients",
        "YCSB",
        "kvclient",
        Unit.CPU_NS_PER_OP,
        goal=4,
    )
    with direct_hosts("c") as hosts:
        echo = pinned(SERVER_CPU, [settings.binary("kv-echo"), "--address", SERVER_ADDRESS])
        with running([*enter(hosts.server), *echo]) as server:
            wait_ready(server, "kv-echo")
            sides = {
                YARDSTICK: functools.partial(_ycsb_over_udp, settings, hosts),
                OURS: functools.partial(_kvclient_over_udp, settings, hosts),
            }
            return alternate(comparison, settings.rounds, sides)


def _ycsb_over_udp(settings: Settings, hosts: Hosts) -> float:
    store = {"udp.address": SERVER_ADDRESS, "udp.port": UDP_PORT}

    def cpu_s(operations: int) -> float:
        return ycsb_cpu_s(
            settings.build,
            [*enter(hosts.client), *pinned(CLIENT_CPU, [])],
            "turntable.bench.UdpStore",
            CLIENTS,
            store,
            operations,
        )

    return cpu_ns_per_operation(cpu_s, 50_000, 200_000)


def _kvclient_over_udp(settings: Settings, hosts: Hosts) -> float:
    """The traces are counted in: they are longer than what is sent."""
    workload = {"name": "workloada", "clients": CLIENTS, "operations": 1_000_000}
    prefix = [*enter(hosts.client), *pinned(CLIENT_CPU, [])]
    with client_node(settings, prefix) as client:
        before = client.cpu_s()
        operations = play(client, workload, SERVER_ADDRESS, UDP_PORT)
        return (client.cpu_s() - before) * 1e9 / operations


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
