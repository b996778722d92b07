"""Network namespaces by name: create, enter, find, remove.

A name is a file in /run/netns on which the namespace is bind-mounted, as `ip netns` does it.
"""

from __future__ import annotations

import ctypes
import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pyroute2 import IPRoute, netns

from .errors import TestbedError
from .marker import Marker
from .names import DIRECTORY, ROOT, inode_of, path_of

__all__ = ["DIRECTORY", "ROOT", "Found", "call_inside", "create", "find", "inode_of"]
__all__ += ["open_netlink", "path_of", "remove"]

T = TypeVar("T")


@dataclass(frozen=True)
class Found:
    """A network namespace that carries a marker; `name` is None if only processes keep it alive."""

    path: Path
    name: str | None
    inode: int
    marker: Marker


def call_inside(path: Path, function: Callable[[], T]) -> T:
    """What `function` returns, called in the namespace at `path`.

    A thread of its own goes there, never the calling one: /proc shows where a process' first thread
    is, and whoever takes a testbed down ends the processes that are in its namespaces. A process
    that only looks at all namespaces must not be found in one.
    """

    def enter_and_call() -> T:
        with path.open("rb") as namespace:
            netns.setns(namespace.fileno())
        return function()

    return _in_a_thread(enter_and_call)


def open_netlink(path: Path) -> IPRoute:
    """A route netlink socket that stays in the namespace at `path`."""

    def open_socket() -> int:
        return socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, socket.NETLINK_ROUTE).detach()

    return IPRoute(fileno=call_inside(path, open_socket))


def create(name: str, marker: Marker) -> None:
    """Creates the namespace, marks it, and only then gives it its name."""
    if inode_of(path_of(name)) is None:
        path_of(name).unlink(missing_ok=True)

    def body() -> None:
        _unshare_network()
        with IPRoute() as netlink:
            netlink.link("set", index=1, ifalias=marker.text(), state="up")
        netns.attach(name, threading.get_native_id())

    try:
        _in_a_thread(body)
    except Exception as error:
        raise TestbedError(
            f"namespace {name}: cannot be created ({error}); expected a Linux kernel with "
            "network namespaces and root's rights: run as root or with sudo"
        ) from error


def remove(name: str) -> None:
    """Takes the name away; the namespace goes with its last process."""
    netns.remove(name)


def find() -> list[Found]:
    """All marked namespaces of this machine: named ones first, then those only a process holds."""
    found = []
    seen: set[int | None] = {None}  # most processes are in one namespace: it is read once
    for path, name in _candidates():
        inode = inode_of(path)
        if inode in seen:
            continue
        try:
            marker = _read_marker(path)
        except (OSError, IndexError):
            continue  # gone meanwhile; another process may still be in it
        if inode_of(path) != inode:
            continue  # this process went elsewhere, or its number to another one
        seen.add(inode)
        if marker:
            found.append(Found(path, name, inode, marker))
    return found


def _candidates() -> Iterator[tuple[Path, str | None]]:
    if DIRECTORY.is_dir():
        for path in sorted(DIRECTORY.iterdir()):
            yield path, path.name
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            yield process / "ns/net", None


def _read_marker(path: Path) -> Marker | None:
    with open_netlink(path) as netlink:
        return Marker.parse(netlink.get_links(1)[0].get("ifalias"))


def _in_a_thread(function: Callable[[], T]) -> T:
    """What `function` returns or raises, called in a thread that ends with it."""
    with ThreadPoolExecutor(max_workers=1) as threads:
        return threads.submit(function).result()


def _unshare_network() -> None:
    """unshare(2) for the calling thread; os.unshare exists from Python 3.12 on."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(netns.CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
