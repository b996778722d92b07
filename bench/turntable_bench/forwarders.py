"""What carries frames between a client and a server host: a plain forwarder, softswitch, BMv2."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from .namespaces import (
    CLIENT_ADDRESS,
    CLIENT_MAC,
    SERVER_ADDRESS,
    SERVER_MAC,
    UDP_PORT,
    Hosts,
    enter,
    namespace_file,
)
from .processes import READY_DEADLINE_S, cpu_seconds, node, running, wait_ready
from .settings import Settings

Forwarder = Callable[[], AbstractContextManager[subprocess.Popen[str]]]
Command = dict[str, Any]  # {"command", "args"} of a control socket

GETREQ, GETRES = "0030", "0009"
KEY_BYTES = 16
# A mark behind the operation header tells late answers apart.
REQUEST = f"--mark-offset {len(GETREQ) // 2 + KEY_BYTES}"
OUTSTANDING, FLOWS, SECONDS = 256, 8, 1
TIMEOUT_MS = 1000  # until a request counts as lost: longer than other jobs delay a forwarder
PORTS = {1: "to_client", 2: "to_server"}
AF_PACKET, AF_XDP = "af_packet", "af_xdp"  # drivers of softswitch's ports


class Forwarders:
    """Forwarders in the switch's namespace, and one load through any of them."""

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
    def soft(
        self, p4_program: Path, commands: Sequence[Command], port_driver: str = AF_PACKET
    ) -> Iterator[subprocess.Popen[str]]:
        """softswitch with a translated program, set up by the commands."""
        options: list[str | Path] = ["--program", p4_program, "--port-driver", port_driver]
        for port, interface in PORTS.items():
            options += ["--port", f"{port}={interface}"]
        with node(self.settings.binary("softswitch"), enter(self.hosts.switch), options) as switch:
            for request in commands:
                switch.call(request["command"], **request["args"])
            yield switch.process
            self._tell_drops(switch.call("port_stats")["ports"])

    @contextlib.contextmanager
    def bmv2(self, simple_switch: Path, program: dict) -> Iterator[subprocess.Popen[str]]:
        """BMv2's simple_switch; `program` is its JSON with all entries."""
        ports = [f"--interface={port}@{interface}" for port, interface in PORTS.items()]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(program, file)
            file.flush()
            argv = [*enter(self.hosts.switch), simple_switch, *ports, file.name]
            with running(argv) as process:
                _wait_for_packet_sockets(process, len(PORTS))
                yield process

    @staticmethod
    def _tell_drops(ports: list[dict]) -> None:
        for port in ports:
            dropped = {reason: n for reason, n in port["drops"].items() if n}
            if dropped:
                print(f"  softswitch port {port['port']} dropped {dropped}")

    def load(
        self, forwarder: Forwarder, outstanding: int = OUTSTANDING, request: str = REQUEST
    ) -> tuple[float, float]:
        """Pairs per second of one run, and the forwarder's processor time of a pair in us.

        `outstanding` requests are under way at a time. A run that loses one is no result.
        `request`: what is sent, as options of frame-pingpong.
        """
        argv = hosts_command(self.settings, self.hosts, outstanding, FLOWS, request)
        with forwarder() as process:
            before = cpu_seconds(process.pid)
            done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True)
            used = cpu_seconds(process.pid) - before
        result = json.loads(done.stdout)
        if result["lost"] or result["strange"] or not result["pairs"]:
            raise RuntimeError(f"{result['lost']} requests lost: {result}")
        return result["pairs_per_s"], used * 1e6 / result["pairs_in_all"]


def hosts_command(
    settings: Settings,
    hosts: Hosts,
    outstanding: int,
    flows: int,
    request: str,
    seconds: float = SECONDS,
    timeout_ms: int = TIMEOUT_MS,
) -> list[str | Path]:
    """frame-pingpong, which plays both hosts."""
    return [
        settings.binary("frame-pingpong"),
        *("--client-namespace", namespace_file(hosts.client)),
        *("--server-namespace", namespace_file(hosts.server)),
        *f"--interface data --udp-port {UDP_PORT}".split(),
        *f"--client {CLIENT_MAC},{CLIENT_ADDRESS}".split(),
        *f"--server {SERVER_MAC},{SERVER_ADDRESS}".split(),
        *f"--request-hex {GETREQ} --answer-hex {GETRES} {request}".split(),
        *f"--outstanding {outstanding} --flows {flows}".split(),
        *f"--seconds {seconds} --timeout-ms {timeout_ms}".split(),
    ]


def _wait_for_packet_sockets(process: subprocess.Popen[str], count: int) -> None:
    """Returns when the namespace of the process has so many; the process may end instead."""
    deadline = time.monotonic() + READY_DEADLINE_S
    table = Path(f"/proc/{process.pid}/net/packet")
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended before it was ready; its message is above")
        if len(table.read_text().splitlines()) > count:  # below a line of headings
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.01)
    raise RuntimeError(f"no packet sockets on the ports after {READY_DEADLINE_S} s")
