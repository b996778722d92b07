"""The target `softswitch`: the real switch in a network namespace, one veth pair per port.

Nothing here waits a fixed time. The switch runs commands between batches of packets, so once
port_stats counts a frame as received, all that it causes has been sent too, and the transmit
counters say how many frames to read.
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from .targets import Frame, result_of, trace_options

DEADLINE_S = 20.0
_CLONE_NEWNET = 0x40000000
_ETH_P_ALL = 3
_SOL_PACKET = 263
_PACKET_IGNORE_OUTGOING = 23
_LONGEST_FRAME = 16384
# By driver of the switch's ports: the MTU of the links.
_MTU = {"af_packet": 9000, "af_xdp": 3500}
_LINK_HEADER_BYTES = 14


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def in_namespace(name: str, make: Callable[[], socket.socket]) -> socket.socket:
    """What `make` gives inside; a thread enters the namespace: this process stays outside."""
    made: list[socket.socket] = []
    failed: list[Exception] = []

    def enter_and_make() -> None:
        try:
            with Path("/run/netns", name).open() as namespace:
                if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), "setns")
            made.append(make())
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=enter_and_make)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return made[0]


class Links:
    """A namespace with veth pairs: `s<port>` for the switch, `t<port>` for the test."""

    def __init__(self, ports: list[int], mtu: int = _MTU["af_packet"]) -> None:
        self.mtu = mtu
        self.namespace = f"p4packet{os.getpid()}-{secrets.token_hex(3)}"
        _ip("netns", "add", self.namespace)
        try:
            self._inside("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
            self._inside("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
            for port in ports:
                self._add(port)
            self.sockets = {port: self._socket(port) for port in ports}
        except BaseException:
            self.remove()
            raise

    def _inside(self, *command: str) -> None:
        _ip("netns", "exec", self.namespace, *command)

    def _add(self, port: int) -> None:
        switch_end, test_end = f"s{port}", f"t{port}"
        _ip(
            "-n",
            self.namespace,
            "link",
            "add",
            switch_end,
            "type",
            "veth",
            "peer",
            "name",
            test_end,
        )
        for end in (switch_end, test_end):
            _ip("-n", self.namespace, "link", "set", end, "mtu", str(self.mtu), "up")
            self._inside("ethtool", "-K", end, "tx", "off")

    def _socket(self, port: int) -> socket.socket:
        def make() -> socket.socket:
            link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            link.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
            link.bind((f"t{port}", _ETH_P_ALL))
            link.settimeout(DEADLINE_S)
            return link

        return in_namespace(self.namespace, make)

    def remove(self) -> None:
        for link in getattr(self, "sockets", {}).values():
            link.close()
        _ip("netns", "del", self.namespace)


class SoftswitchTarget:
    """softswitch with one compiled program; `trace` as MemoryTarget has it. A CPU port has links as
    the others.
    """

    def __init__(
        self,
        binary: Path,
        program: Path,
        directory: Path,
        ports: list[int],
        trace: str | None = None,
        port_driver: str = "af_packet",
        options: Sequence[str] = (),
        cpu_port: int | None = None,
    ) -> None:
        links = ports if cpu_port is None else [*ports, cpu_port]
        self._links = Links(links, _MTU[port_driver])
        self.namespace = self._links.namespace
        arguments = [
            f"--cpu-port={port}=s{port}" if port == cpu_port else f"--port={port}=s{port}"
            for port in links
        ]
        self._argv = [
            "ip", "netns", "exec", self._links.namespace, binary, "--directory", directory,
            "--program", program, "--port-driver", port_driver, *arguments,
            *trace_options(trace), *options,
        ]  # fmt: skip
        self.directory = directory
        self._socket_path = directory / "softswitch.sock"
        self._start()

    def _start(self) -> None:
        self._control: socket.socket | None = None
        self._process = subprocess.Popen(self._argv)
        try:
            self._connect()
        except BaseException:
            self.close()
            raise

    def kill_and_start(self) -> None:
        """Another switch at the same links, without a table or a register of the first."""
        self.kill_switch()
        self._start()

    def kill_switch(self) -> None:
        assert self._control is not None
        self._control.close()
        self._process.kill()
        self._process.wait(timeout=DEADLINE_S)

    def _connect(self) -> None:
        """Connects when the switch answers; fails when it has ended or is silent."""
        end = time.monotonic() + DEADLINE_S
        while True:
            control = socket.socket(socket.AF_UNIX)
            control.settimeout(DEADLINE_S)
            try:
                control.connect(str(self._socket_path))
            except OSError:
                control.close()
                if self._process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.01)
                continue
            self._control = control
            self._answers = control.makefile()
            return

    def command(self, name: str, **arguments: Any) -> Any:
        assert self._control is not None
        request = {"id": 1, "command": name, "args": arguments}
        self._control.sendall(json.dumps(request).encode() + b"\n")
        return result_of(json.loads(self._answers.readline()))

    def _counts(self) -> dict[int, tuple[int, int]]:
        """Per port with a link: frames received, dropped ones included, and frames sent."""
        return {
            row["port"]: (
                row["rx_packets"] + row["drops"].get("rx_oversize", 0),
                row["tx_packets"],
            )
            for row in self.command("port_stats")["ports"]
            if row["port"] in self._links.sockets
        }

    def send(self, port: int, frame: bytes) -> list[Frame]:
        if len(frame) > self._links.mtu + _LINK_HEADER_BYTES:
            pytest.skip(f"the links of this port driver have an MTU of {self._links.mtu}")
        before = self._counts()
        self._links.sockets[port].send(frame)
        end = time.monotonic() + DEADLINE_S
        after = self._counts()
        while after[port][0] == before[port][0]:
            if time.monotonic() > end:
                raise TimeoutError(f"the switch has not received the frame at port {port}")
            after = self._counts()
        return [
            (out, self._links.sockets[out].recv(_LONGEST_FRAME))
            for out, (_, sent) in after.items()
            for _ in range(sent - before[out][1])
        ]

    def send_blindly(self, port: int, frame: bytes) -> None:
        """Without looking at what becomes of it."""
        self._links.sockets[port].send(frame)

    def next_frame(self, port: int) -> bytes:
        """Of a port that `send` has seen nothing leave, as frames wait in its queues."""
        return self._links.sockets[port].recv(_LONGEST_FRAME)

    def close(self) -> None:
        if self._control is not None:
            self._control.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=DEADLINE_S)
        finally:
            self._links.remove()
