"""Request/answer pairs through softswitch beside a plain AF_PACKET forwarder, over veth.

Both carry the same closed-loop load of key-value packets on the same links, in turn.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .comparison import OURS, YARDSTICK, Comparison, Outcome, Unit, alternate
from .namespaces import (
    CLIENT_ADDRESS,
    CLIENT_MAC,
    SERVER_ADDRESS,
    SERVER_MAC,
    UDP_PORT,
    Hosts,
    enter,
    switched_hosts,
)
from .processes import cpu_seconds, node, running, wait_ready
from .settings import Settings

GETREQ, GETRES = "0030", "0009"
KEY_BYTES = 16
OUTSTANDING, FLOWS, SECONDS = 256, 8, 1


def measure(settings: Settings) -> list[Outcome]:
    comparison = Comparison(
        "switch: pairs through it, over veth",
        "plain AF_PACKET forwarder",
        "softswitch",
        Unit.PAIRS_PER_S,
        goal=0.8,
    )
    with switched_hosts("s") as hosts:
        bench = Bench(settings, hosts)
        sides = {YARDSTICK: lambda: bench.load(bench.plain), OURS: lambda: bench.load(bench.soft)}
        return [alternate(comparison, settings.rounds, sides)]


def key_value_tables() -> list[dict[str, object]]:
    """One partition at the server; p4/shared says what the tables do."""
    whole = {"key": {"slot": {"low": 0, "high": 32767}}, "priority": 0}
    server = {"mac": SERVER_MAC, "ip": SERVER_ADDRESS, "udp_port": UDP_PORT}
    tables = (
        ("request_partition", "to_server", whole, {"port": 2, **server}),
        ("answer_partition", "from_first_server", whole, server),
        ("forwarding", "forward", _route(CLIENT_ADDRESS), {"port": 1, "mac": CLIENT_MAC}),
        ("forwarding", "forward", _route(SERVER_ADDRESS), {"port": 2, "mac": SERVER_MAC}),
    )
    return [
        {"op": "insert", "table": _table_name(block), "action": action, "data": data, **match}
        for block, action, match, data in tables
    ]


def _table_name(block: str) -> str:
    return f"pipe.SwitchIngress.{block}.{'ipv4_lpm' if block == 'forwarding' else block}"


def _route(address: str) -> dict[str, object]:
    return {"key": {"dst_addr": {"value": address, "prefix_len": 32}}}


class Bench:
    """One load through one of the two forwarders."""

    def __init__(self, settings: Settings, hosts: Hosts) -> None:
        self.settings = settings
        self.hosts = hosts

    @contextlib.contextmanager
    def plain(self) -> Iterator[subprocess.Popen[str]]:
        ports = "--port to_client --port to_server"
        rules = f"--forward {CLIENT_MAC}=to_client --forward {SERVER_MAC}=to_server"
        program = self.settings.binary("plain-forwarder")
        with running([*enter(self.hosts.switch), program, *f"{ports} {rules}".split()]) as process:
            wait_ready(process, "plain-forwarder")
            yield process

    @contextlib.contextmanager
    def soft(self) -> Iterator[subprocess.Popen[str]]:
        ports = ["--port", "1=to_client", "--port", "2=to_server"]
        options = ["--program", self._p4_program(), *ports]
        program = self.settings.binary("softswitch")
        with node(program, enter(self.hosts.switch), options) as switch:
            if self.settings.program == "static_forwarder":
                for mac, port in ((CLIENT_MAC, 1), (SERVER_MAC, 2)):
                    switch.call("forward", mac=mac, port=port)
            else:
                switch.call("table_write", updates=key_value_tables())
            yield switch.process
            self._tell_drops(switch.call("port_stats")["ports"])

    def _p4_program(self) -> Path:
        directory = "bench" if self.settings.program == "static_forwarder" else "p4"
        return self.settings.build / "lib" / directory / f"{self.settings.program}.so"

    @staticmethod
    def _tell_drops(ports: list[dict]) -> None:
        for port in ports:
            dropped = {reason: n for reason, n in port["drops"].items() if n}
            if dropped:
                print(f"  softswitch port {port['port']} dropped {dropped}")

    def load(self, forwarder) -> float:
        """Pairs per second of one run; one that loses requests is no result."""
        program = self.settings.binary("udp-pingpong")
        where = f"--address {SERVER_ADDRESS} --udp-port {UDP_PORT}".split()
        # A mark behind the operation header tells late answers apart.
        shape = (
            f"--prefix-hex {GETREQ} --mark-offset {len(GETREQ) // 2 + KEY_BYTES}"
            f" --outstanding {OUTSTANDING} --flows {FLOWS} --seconds {SECONDS}"
        )
        server = [*enter(self.hosts.server), program, "server", *where, "--prefix-hex", GETRES]
        client = [*enter(self.hosts.client), program, "client", *where, *shape.split()]
        with forwarder() as process, running(server) as echo:
            wait_ready(echo, "udp-pingpong server")
            before = cpu_seconds(process.pid)
            done = subprocess.run(client, capture_output=True, text=True, check=True)
            used = cpu_seconds(process.pid) - before
        result = json.loads(done.stdout)
        if result["lost"] or not result["pairs"]:
            raise RuntimeError(f"{result['lost']} requests lost: {result}")
        name = forwarder.__name__
        print(f"    {name}: {used * 1e6 / result['pairs_in_all']:.2f} us CPU/pair", flush=True)
        return result["pairs_per_s"]
