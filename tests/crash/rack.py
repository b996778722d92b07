"""A rack of the product's own programs, small and quick: kvclient, softswitch with a cache,
switch-agent, cache-controller and two kvservers, each of which may be killed and started again.

    with Rack(build_dir, directory, Setup(method="farreach", seed=3)) as rack:
        rack.start()
        rack.begin_clients()
        rack.wait_for_answers(1000)
        rack.kill(SOFTSWITCH)          # the clients are sending
        rack.recover(SOFTSWITCH)
        rack.wait_for_answers(1000)
        rack.end_clients()

Everything is as in a run: tables and places of partitions are those that runs install. Partition
`BOTTLENECK` is on the first server and the other three on the second.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kv.nodes import Node, command_line
from turntable_systems.farreach import hosts, switch_tables
from turntable_systems.farreach.placement import AGENT_PORT, CONTROLLER_PORT, FIRST_PORT, place_of

from .network import CLIENT, CPU, CPU_PORT, PORT, SERVERS, SWITCH, Network

SCALE, BOTTLENECK = 4, 1
MS = 1_000_000
DEADLINE_S = 20
COPIES_MAX = 100_000
CLIENTS_LEAD_MS = 500
LONGEST_RUN_S = 3_600  # at most what kvclient takes

SOFTSWITCH, AGENT, CONTROLLER = "softswitch", "switch-agent", "cache-controller"
SERVER_NODES = ("kvserver0", "kvserver1")
REQUIRES_ROOT = "racks are network namespaces: run make pytest as root"


@dataclass(frozen=True)
class Setup:
    """What runs on a rack. `variations` is kvclient's (docs/history-format.md)."""

    method: str = "farreach"
    seed: int = 1
    profile: str = "workloada"
    records: int = 10_000
    value_bytes: int = 128
    clients: int = 16
    cache_size: int = 100
    warm: int = 100  # keys cached before the clients begin
    hot_threshold: int = 1
    clear_period_s: float = 0.05
    snapshot_period_s: float = 0  # farreach
    timeout_ms: int = 200
    capacity: float = 0  # of a logical server, in operations per second; 0: no limit
    variations: dict[str, int] = field(
        default_factory=lambda: {"delete_every": 7, "large_every": 11, "large_bytes": 1500}
    )

    @property
    def caches(self) -> bool:
        """Whether the switch does: only then there are an agent and a controller."""
        return self.method != "nocache"

    @property
    def workload(self) -> dict[str, Any]:
        return {
            "name": self.profile,
            "records": self.records,
            "value_bytes": self.value_bytes,
            "clients": self.clients,
            "operations": 2_000 * self.clients,
            "seed": self.seed,
        }

    @property
    def stores(self) -> dict[str, Any]:
        """What kvserver's `load` and `prepare` have in common."""
        return {
            "workload": self.workload,
            "scale": SCALE,
            "store_profile": "embedded",
            **({"method": self.method} if self.caches else {}),
        }


def replayed(recovered: Mapping[str, Any]) -> int:
    """Records that servers were given by a `recover` that answered so."""
    return next(row["records"] for row in recovered["phases"] if row["phase"] == "replay")


def eventually(condition: Callable[[], bool], what: str, deadline_s: float = DEADLINE_S) -> None:
    """Waits for what a busy machine may do late."""
    end = time.monotonic() + deadline_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {deadline_s} s: {what}")
        time.sleep(0.01)  # waits: interval of a probe with a deadline


class HostNode(Node):
    """A node program inside the namespace of a host."""

    def __init__(self, namespace: str, program: Path, directory: Path, *options: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._socket_path = directory / f"{program.name}.sock"
        with (directory / f"{program.name}.log").open("a") as log:
            # `ip` becomes the program: the process is the node's own.
            line = command_line(program, directory, *options)
            command = ["ip", "netns", "exec", namespace, *line]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self.wait_ready()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait()


class Rack:
    """One rack; `start` brings everything to the point where clients may begin."""

    def __init__(self, build_dir: Path, directory: Path, setup: Setup) -> None:
        self.setup = setup
        self.build_dir, self.directory = build_dir, directory
        self.network = Network(build_dir, directory)
        self.testbed = self.network.testbed
        self.nodes: dict[str, HostNode] = {}
        self._faults: dict[tuple[int, str], list[dict[str, Any]]] = {}

    def __enter__(self) -> Rack:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            # Those who ask end before those who answer.
            for name in ("kvclient", *SERVER_NODES, CONTROLLER, AGENT, SOFTSWITCH):
                if name in self.nodes and self.nodes[name].is_running:
                    self.nodes[name].end()
        finally:
            self.network.remove()

    def start(self) -> None:
        self.start_switch()
        self.forward()
        if self.setup.caches:
            self.start_agent()
            self.configure_agent(fresh=True)
            self.start_controller()
        for index in range(len(SERVERS)):
            self.start_server(index)
        if self.setup.caches:
            self.call(CONTROLLER, "warm_up", workload=self.setup.workload, count=self.setup.warm)
        self._spawn(
            "kvclient", CLIENT, "kvclient", "--address", hosts.clients(self.testbed)[0].address
        )

    def call(self, node: str, command: str, /, **args: Any) -> Any:
        return self.nodes[node].call(command, **args)

    def kill(self, *names: str) -> None:
        """kill -9, one right after the other. A switch takes slots and numbers with it."""
        for name in names:
            self.nodes[name].process.kill()
        for name in names:
            self.nodes[name].process.wait()

    def recover(self, *killed: str, clients: int = 1, pause_s: float = 0) -> dict[str, Any] | None:
        """Starts what was killed as docs/kvcache.md §9 tells operators -> what `recover` of the
        controller said. `clients`: the kvclients that have copies. `pause_s`: that operators take
        before they send `recover`.
        """
        for index, name in enumerate(SERVER_NODES):
            if name in killed:
                self.start_server(index, keep_stores=True)
        empty = SOFTSWITCH in killed
        if empty:
            self.start_switch()
        if AGENT in killed:
            self.start_agent()
        if empty or AGENT in killed:
            self.configure_agent(fresh=empty)
        if CONTROLLER in killed:
            self.start_controller()
        result = None
        if empty:
            time.sleep(pause_s)  # waits: an operator's pause, not for anything
            result = self.call(CONTROLLER, "recover", clients=clients, deadline_s=30)
        if empty:
            self.forward()
        return result

    # --- Nodes ------------------------------------------------------------------------------------

    def start_switch(self) -> None:
        """Its tables are empty: it forwards nothing."""
        switch = self.testbed.switch
        options = [f"--program={switch.p4_dir}/{self.setup.method}.so"]
        for host in self.testbed.data_hosts:
            options.append(f"--port={host.switch_port}={host.switch_interface}")
        options.append(f"--cpu-port={CPU_PORT}={switch.cpu_interface}")
        self._spawn(SOFTSWITCH, SWITCH, "softswitch", *options)

    def forward(self) -> None:
        """Entries that bring requests to their servers and answers back; and the faults of links
        that a switch before may have had.
        """
        updates = switch_tables.of_turn(self.testbed, SCALE, BOTTLENECK, cached=self.setup.caches)
        self.call(SOFTSWITCH, "table_write", updates=updates)
        for (port, direction), rules in self._faults.items():
            self.call(SOFTSWITCH, "impair", port=port, direction=direction, rules=rules)

    def start_agent(self) -> None:
        switch = self.testbed.switch
        self._spawn(
            AGENT,
            SWITCH,
            "switch-agent",
            f"--cpu-interface={switch.control_plane_interface}",
            f"--address={switch.control_address}",
            f"--port={AGENT_PORT}",
        )

    def configure_agent(self, *, fresh: bool) -> dict[str, int]:
        """With `fresh` the cache becomes empty; else the agent goes on with what is there."""
        servers = [place_of(partition, BOTTLENECK).server for partition in range(SCALE)]
        return self.call(
            AGENT,
            "configure",
            method=self.setup.method,
            egress_ports=[hosts.servers(self.testbed)[server].switch_port for server in servers],
            clients=[{"address": hosts.clients(self.testbed)[0].address, "port": PORT[CLIENT]}],
            cpu_port=CPU_PORT,
            fresh=fresh,
            cache_size=self.setup.cache_size,
            hot_threshold=self.setup.hot_threshold,
            sampling=1,
            clear_period_s=self.setup.clear_period_s,
        )

    def start_controller(self) -> None:
        host = hosts.servers(self.testbed)[0]
        address = (f"--address={host.control_address}", f"--port={CONTROLLER_PORT}")
        self._spawn(CONTROLLER, SERVERS[0], "cache-controller", *address)
        self.call(
            CONTROLLER,
            "configure",
            method=self.setup.method,
            scale=SCALE,
            agent_address=self.testbed.switch.control_address,
            agent_port=AGENT_PORT,
            snapshot_period_s=self.setup.snapshot_period_s,
        )

    def start_server(self, index: int, **prepare: Any) -> None:
        """`prepare`: more arguments of that command."""
        host = hosts.servers(self.testbed)[index]
        options = (f"--state-dir={host.state_dir}/state", f"--address={host.address}")
        name = SERVER_NODES[index]
        self._spawn(name, SERVERS[index], "kvserver", *options)
        places = {partition: place_of(partition, BOTTLENECK) for partition in range(SCALE)}
        here = {p: place.udp_port for p, place in places.items() if place.server == index}
        self.call(name, "load", **self.setup.stores, partitions=list(here))
        self.call(
            name,
            "prepare",
            **self.setup.stores,
            logical_servers=[{"partition": p, "udp_port": port} for p, port in here.items()],
            capacity_ops_per_s=self.setup.capacity,
            **({"controller": self.controller} if self.setup.caches else {}),
            **prepare,
        )

    @property
    def controller(self) -> dict[str, Any]:
        """Where servers and clients find it."""
        return {"address": hosts.servers(self.testbed)[0].control_address, "port": CONTROLLER_PORT}

    def _spawn(self, name: str, host: str, program: str, *options: str) -> None:
        path = self.build_dir / "bin" / program
        namespace, directory = self.network.namespace(host), self.network.directory(host)
        self.nodes[name] = HostNode(namespace, path, directory, *options)

    # --- Clients ----------------------------------------------------------------------------------

    @property
    def history(self) -> Path:
        """Of the clients' last run."""
        return self.directory / "history"

    def begin_clients(self, **prepare: Any) -> None:
        """All clients begin to send; `prepare`: more arguments of that command."""
        self.call(
            "kvclient",
            "prepare",
            workload=self.setup.workload,
            scale=SCALE,
            partitions=list(range(SCALE)),
            first_client=0,
            clients=self.setup.clients,
            server_address=hosts.servers(self.testbed)[0].address,
            server_port=FIRST_PORT,
            timeout_us=self.setup.timeout_ms * 1000,
            variations=self.setup.variations,
            copies_max=COPIES_MAX,
            controller=self.controller,
            history=str(self.history),
            **prepare,
        )
        window = {"warmup_ns": 0, "measure_ns": LONGEST_RUN_S * 1000 * MS, "drain_ns": 0}
        start_at = time.time_ns() + CLIENTS_LEAD_MS * MS
        self.call("kvclient", "start", start_at_ns=start_at, **window)

    def answers(self) -> int:
        """That the clients have got so far."""
        return self.call("kvclient", "stats")["answers"]

    def wait_for_answers(self, more: int) -> None:
        """Until the clients have got so many more answers."""
        wanted = self.answers() + more
        eventually(lambda: self.answers() >= wanted, f"{more} more answers to clients")

    def end_clients(self) -> dict[str, Any]:
        """Requests under way stay without an answer -> raw statistics."""
        self.call("kvclient", "stop")
        return self.call("kvclient", "stats")

    # --- The network between ----------------------------------------------------------------------

    def impair(self, host: str, direction: str, *rules: dict[str, Any]) -> None:
        """Faults of the link to a host, or to the agent, as the switch sees it (docs/p4soft.md,
        Faults of links); without rules there are none any more.
        """
        port = CPU_PORT if host == CPU else PORT[host]
        self._faults[port, direction] = list(rules)
        self.call(SOFTSWITCH, "impair", port=port, direction=direction, rules=list(rules))

    def heal(self) -> None:
        """No faults any more."""
        for port, direction in list(self._faults):
            self.call(SOFTSWITCH, "impair", port=port, direction=direction, rules=[])
        self._faults.clear()

    def settings(self, **settings: Any) -> None:
        """Of the agent, at run time."""
        self.call(AGENT, "settings", **settings)

    def outcomes(self) -> list[int]:
        """Packets by what became of them (p4/shared/cache/outcome_numbers.p4)."""
        counters = self.call(SOFTSWITCH, "counter_read", table=switch_tables.OUTCOMES)["counters"]
        return [counter["$COUNTER_SPEC_PKTS"] for counter in counters]

    def logs(self) -> str:
        """What the nodes have printed."""
        texts = []
        for path in sorted(self.directory.glob("*/*.log")):
            with contextlib.suppress(OSError):
                if text := path.read_text(errors="replace").strip():
                    texts.append(f"--- {path.parent.name}/{path.name}\n{text}")
        return "\n".join(texts)
