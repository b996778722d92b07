"""Hosts for a measurement: network namespaces joined by veth pairs."""

from __future__ import annotations

import array
import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .comparison import NotRunError

SIOCETHTOOL = 0x8946
# <linux/ethtool.h>: set transmit checksumming, and segmentation and reassembly in software.
ETHTOOL_STXCSUM, ETHTOOL_SGSO, ETHTOOL_SGRO = 0x17, 0x24, 0x2C
CLONE_NEWNET = 0x40000000

CLIENT_ADDRESS, SERVER_ADDRESS = "198.19.254.1", "198.19.254.2"
CLIENT_MAC, SERVER_MAC = "02:00:00:00:fe:01", "02:00:00:00:fe:02"
UDP_PORT = 1152  # key-value traffic (docs/architecture.md §3), which both forwarders carry alike


def need_root() -> None:
    if os.geteuid() != 0:
        raise NotRunError("network namespaces need root: run it with sudo")


def ip(arguments: str) -> None:
    """Runs `ip`, failing with its own message."""
    done = subprocess.run(["ip", *arguments.split()], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ip {arguments}: {done.stderr.strip()}")


def enter(namespace: str) -> list[str]:
    """What to put before a command that is to run there."""
    return ["ip", "netns", "exec", namespace]


def namespace_file(namespace: str) -> Path:
    return Path("/run/netns", namespace)


@contextlib.contextmanager
def inside(namespace: str) -> Iterator[None]:
    """The calling thread works in the namespace (os.setns exists from Python 3.12 only)."""
    setns = ctypes.CDLL(None, use_errno=True).setns
    with Path("/proc/self/ns/net").open() as home, namespace_file(namespace).open() as there:
        if setns(there.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter network namespace {namespace}")
        try:
            yield
        finally:
            setns(home.fileno(), CLONE_NEWNET)


def transmit_checksum_off(namespace: str, interface: str) -> None:
    """As `ethtool -K DEV tx off`: packet sockets behind a veth must see complete checksums."""
    _feature_off(namespace, interface, ETHTOOL_STXCSUM)


def super_frames_off(namespace: str, interface: str) -> None:
    """As `ethtool -K DEV gso off gro off`: libpcap's ring then has many slots of the MTU's size,
    not 31 of 64 KiB.
    """
    _feature_off(namespace, interface, ETHTOOL_SGSO)
    _feature_off(namespace, interface, ETHTOOL_SGRO)


def _feature_off(namespace: str, interface: str, command: int) -> None:
    value = array.array("B", struct.pack("II", command, 0))
    request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
    with inside(namespace), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCETHTOOL, request)


@dataclass(frozen=True)
class Hosts:
    """A client and a server host."""

    prefix: str

    @property
    def client(self) -> str:
        return f"{self.prefix}-client"

    @property
    def server(self) -> str:
        return f"{self.prefix}-server"

    @property
    def switch(self) -> str:
        return f"{self.prefix}-switch"

    def _add_namespace(self, namespace: str) -> None:
        ip(f"netns add {namespace}")
        with inside(namespace):
            Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")

    def _ends(self) -> tuple[tuple[str, ...], ...]:
        client = (self.client, CLIENT_ADDRESS, CLIENT_MAC)
        server = (self.server, SERVER_ADDRESS, SERVER_MAC)
        return ((*client, *server[1:]), (*server, *client[1:]))

    def build_direct(self) -> None:
        """One veth pair from host to host, and nothing between."""
        for namespace in (self.client, self.server):
            self._add_namespace(namespace)
        peer = f"data address {SERVER_MAC} netns {self.server}"
        ip(f"-n {self.client} link add data address {CLIENT_MAC} type veth peer name {peer}")
        for end in self._ends():
            self._bring_up(*end)

    def build_switched(self) -> None:
        """A veth pair from each host to the namespace `switch`, where the forwarders work.

        The hosts are frame-pingpong's: interfaces have no addresses, and link addresses of their
        own, so that the kernel makes no more of a frame than the hosts do.
        """
        for namespace in (self.client, self.server, self.switch):
            self._add_namespace(namespace)
        for namespace, port in ((self.client, "to_client"), (self.server, "to_server")):
            peer = f"{port} netns {self.switch}"
            ip(f"-n {namespace} link add data type veth peer name {peer}")
            transmit_checksum_off(namespace, "data")
            transmit_checksum_off(self.switch, port)
            ip(f"-n {self.switch} link set {port} up")
            ip(f"-n {namespace} link set data up")

    @staticmethod
    def _bring_up(namespace: str, address: str, _mac: str, other: str, other_mac: str) -> None:
        ip(f"-n {namespace} address add {address}/30 dev data")
        ip(f"-n {namespace} link set data up")
        ip(f"-n {namespace} neighbour add {other} lladdr {other_mac} dev data")

    def remove(self) -> None:
        for namespace in (self.client, self.server, self.switch):
            if namespace_file(namespace).exists():
                ip(f"netns delete {namespace}")


@contextlib.contextmanager
def direct_hosts(name: str) -> Iterator[Hosts]:
    hosts = Hosts(f"ttbench{os.getpid()}{name}")
    need_root()
    try:
        hosts.build_direct()
        yield hosts
    finally:
        hosts.remove()


@contextlib.contextmanager
def switched_hosts(name: str) -> Iterator[Hosts]:
    hosts = Hosts(f"ttbench{os.getpid()}{name}")
    need_root()
    try:
        hosts.build_switched()
        yield hosts
    finally:
        hosts.remove()
