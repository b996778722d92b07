"""The cache's control plane on a real software switch: admissions, and recovery of a switch that
was started again, with copies at clients of all that was cached (docs/kvcache.md §9).
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

from .comparison import Limit, Reading, Unit, positive
from .copies import CopiesClient, Copy
from .handshake import SECRET, secret_option
from .namespaces import enter, inside, ip, need_root
from .processes import Node, node, node_in, run_directory
from .settings import Settings

CACHED = (100, 1_000, 10_000)
CLIENTS = 2
VALUE_BYTES = 128
SCALE = 2
WORKLOAD = {"name": "workloada", "records": 100_000}
STORES = {"workload": WORKLOAD, "scale": SCALE, "store_profile": "embedded", "method": "farreach"}
AGENT_PORT, CONTROLLER_PORT, UDP_PORT = 5003, 5555, 1152
SWITCH_PORTS, CPU_PORT = (1, 2, 3), 64
DEADLINE_S = 60
AT_SWITCH_PER_S = 300_000  # ten times what FarReach's paper reports
PHASES = ("collect", "replay", "numbers", "fetch", "restore")


def measure(settings: Settings) -> list[Reading]:
    largest = f"cache {CACHED[-1]:,}"
    limits = {
        "admission": Limit(f"admission by frames, {largest}", Unit.US_PER_RECORD),
        "replay": Limit(f"recovery: replay at servers, {largest}", Unit.US_PER_RECORD),
        "restore": Limit(
            f"recovery: at the switch, {largest}", Unit.US_PER_RECORD, 1e6 / AT_SWITCH_PER_S
        ),
        **{cached: Limit(f"recovery, cache {cached:,}", Unit.S) for cached in CACHED},
    }
    runs: dict[str | int, list[float]] = {name: [] for name in limits}
    print("\nrecovery", flush=True)
    with Rack(settings) as rack:
        for number in range(settings.rounds):
            for cached in CACHED:
                admission_s, phases = rack.lose_and_recover(cached)
                runs[cached].append(positive(sum(phases.values()), "recovery"))
                texts = [f"{name} {phases[name] * 1e3:.1f} ms" for name in PHASES]
                print(f"  round {number + 1}, cache {cached:,}: {', '.join(texts)}", flush=True)
            runs["admission"].append(admission_s * 1e6 / cached)
            for name in ("replay", "restore"):
                runs[name].append(phases[name] * 1e6 / cached)
    return [Reading(limit, runs[name]) for name, limit in limits.items()]


class Rack(contextlib.ExitStack):
    """Switch, agent, controller and a server in one namespace; clients are threads of this
    process. No key-value packet is sent.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        need_root()
        self._namespace = f"ttbench{os.getpid()}c"
        self._largest = 0  # of the numbers given so far
        try:
            self._start(settings)
        except BaseException:
            self.close()
            raise

    def _start(self, settings: Settings) -> None:
        ip(f"netns add {self._namespace}")
        self.callback(ip, f"netns delete {self._namespace}")
        ip(f"-n {self._namespace} link set lo up")
        for port in (*SWITCH_PORTS, CPU_PORT):
            ip(f"-n {self._namespace} link add s{port} type veth peer name t{port}")
            ip(f"-n {self._namespace} link set s{port} up")
            ip(f"-n {self._namespace} link set t{port} up")
        prefix = enter(self._namespace)
        directory = self.enter_context(run_directory())

        def started(program: str, *options: str) -> Node:
            path = settings.binary(program)
            return self.enter_context(node_in(directory, path, prefix, options))

        ports = [f"--port={port}=s{port}" for port in SWITCH_PORTS]
        program = f"--program={settings.build}/lib/p4/farreach.so"
        self.switch = started("softswitch", program, *ports, f"--cpu-port={CPU_PORT}=s{CPU_PORT}")
        listen, secret = "--address=127.0.0.1", secret_option(directory)
        self.agent = started(
            "switch-agent", f"--cpu-interface=t{CPU_PORT}", listen, f"--port={AGENT_PORT}", *secret
        )
        self.controller = started("cache-controller", listen, f"--port={CONTROLLER_PORT}", *secret)
        state = self.enter_context(run_directory())
        options = [f"--state-dir={state}", listen, *secret]
        self.server = self.enter_context(node(settings.binary("kvserver"), prefix, options))
        partitions = list(range(SCALE))
        self.server.call("load", **STORES, partitions=partitions)
        self.server.call(
            "prepare",
            **STORES,
            logical_servers=[{"partition": p, "udp_port": UDP_PORT + p} for p in partitions],
            capacity_ops_per_s=0,
            controller={"address": "127.0.0.1", "port": CONTROLLER_PORT},
        )

    def lose_and_recover(self, cached: int) -> tuple[float, dict[str, float]]:
        """Seconds that the admission of so many keys took, and those of each phase of recovery
        after the switch has lost a newer record of each.
        """
        self._configure_agent(cached)
        agent = {"agent_address": "127.0.0.1", "agent_port": AGENT_PORT}
        self.controller.call("configure", method="farreach", scale=SCALE, **agent)
        begin = time.monotonic()
        self.controller.call("warm_up", workload=WORKLOAD, count=cached)
        admission_s = time.monotonic() - begin
        keys = self._cached_keys()
        self._configure_agent(cached)  # to the agent, a switch that was started again
        with self._clients(keys):
            answer = self.controller.call("recover", clients=CLIENTS, deadline_s=DEADLINE_S)
        if (answer["restored"], answer["newer"]) != (cached, cached):
            raise RuntimeError(f"recovered {answer}; expected all {cached} records, newer ones")
        self._largest = answer["number"]
        return admission_s, {row["phase"]: row["seconds"] for row in answer["phases"]}

    def _configure_agent(self, cached: int) -> None:
        self.agent.call(
            "configure",
            method="farreach",
            egress_ports=[2, 3],
            clients=[{"address": "198.18.0.1", "port": 1}],
            cpu_port=CPU_PORT,
            fresh=True,
            cache_size=cached,
            clear_period_s=0,
        )

    def _cached_keys(self) -> list[bytes]:
        entries: list[dict[str, Any]] = self.switch.call("table_read", table="cache_lookup")[
            "entries"
        ]
        names = ("keylolo", "keylohi", "keyhilo", "keyhihilo", "keyhihihi")
        return [
            struct.pack(">IIIHH", *(int(entry["key"][name]) for name in names)) for entry in entries
        ]

    @contextlib.contextmanager
    def _clients(self, keys: list[bytes]) -> Iterator[None]:
        """Clients that have, between them, a copy of each key newer than all there were."""
        copies = [Copy(key, self._largest + 1, os.urandom(VALUE_BYTES)) for key in keys]
        clients = []
        for number in range(CLIENTS):
            with inside(self._namespace):
                channel = socket.create_connection(("127.0.0.1", CONTROLLER_PORT))
            clients.append(CopiesClient(channel, SECRET, copies[number::CLIENTS]))
        try:
            yield
        finally:
            for client in clients:
                client.close()
