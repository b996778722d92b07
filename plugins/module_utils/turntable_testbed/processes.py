"""The processes of a testbed: found by namespace and by argument, ended by process id."""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from . import namespaces
from .errors import TestbedError

# How long the kernel may take to end processes that got SIGKILL, at least.
_KILL_DEADLINE_S = 5.0


@dataclass(frozen=True)
class Process:
    """A process of the testbed; `namespace` is None if only its arguments name the testbed."""

    pid: int
    namespace: str | None
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{' '.join(self.arguments) or '?'} (pid {self.pid}, {self.namespace or 'outside'})"


def find(testbed: str) -> list[Process]:
    """Everything in a namespace of `testbed`, or run as `supervisor … --testbed <testbed> …`."""
    marked = {
        found.inode: found.name or f"{testbed}-{found.marker.host} (unnamed)"
        for found in namespaces.find()
        if found.marker.testbed == testbed
    }
    mine = _ancestors(os.getpid())
    processes = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in mine:
            continue
        arguments = _arguments(entry)
        namespace = marked.get(namespaces.inode_of(entry / "ns/net"))
        if namespace or _is_supervisor_of(arguments, testbed):
            processes.append(Process(int(entry.name), namespace, arguments))
    return processes


def end(testbed: str, deadline_s: float) -> list[Process]:
    """Ends all processes of `testbed` and those they start meanwhile; returns the ones that were
    there.

    Each gets SIGTERM and until the deadline to end in order, then SIGKILL.
    """
    ended: dict[int, Process] = {}
    polite_until = time.monotonic() + deadline_s
    give_up_at = polite_until + max(deadline_s, _KILL_DEADLINE_S)
    # A node may start another one just before it ends: look again until there is none.
    while found := find(testbed):
        ended.update((process.pid, process) for process in found)
        now = time.monotonic()
        if now > give_up_at:
            raise TestbedError(
                f"testbed {testbed!r}: still running after SIGKILL: "
                f"{', '.join(map(str, found))}; expected them to end. "
                " Look at /proc/<pid>/stack for what they wait for, then run this again"
            )
        polite = now < polite_until
        handles = _signal(found, signal.SIGTERM if polite else signal.SIGKILL)
        _wait(handles, polite_until if polite else give_up_at)
    return list(ended.values())


def _signal(found: list[Process], number: int) -> list[int]:
    """Sends a signal to each; returns a handle (pidfd) per process that was still there."""
    handles = []
    for process in found:
        try:
            handle = os.pidfd_open(process.pid)
            handles.append(handle)
            # Between finding and opening the number may have gone to another process.
            if _arguments(Path(f"/proc/{process.pid}")) == process.arguments:
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            continue  # ended on its own
    return handles


def _wait(handles: list[int], limit: float) -> None:
    """Until all have ended (a pidfd is then readable) or `limit` (time.monotonic) has come."""
    poller = select.poll()
    waiting = set(handles)
    for handle in handles:
        poller.register(handle, select.POLLIN)
    while waiting and (left := limit - time.monotonic()) > 0:
        for handle, _ in poller.poll(left * 1000):
            poller.unregister(handle)
            waiting.discard(handle)
    for handle in handles:
        os.close(handle)


def _arguments(entry: Path) -> tuple[str, ...]:
    try:
        return tuple(entry.joinpath("cmdline").read_text(errors="replace").split("\0")[:-1])
    except OSError:
        return ()


def _is_supervisor_of(arguments: tuple[str, ...], testbed: str) -> bool:
    if not arguments or Path(arguments[0]).name != "supervisor":
        return False
    return ("--testbed", testbed) in pairwise(arguments) or f"--testbed={testbed}" in arguments


def _ancestors(pid: int) -> set[int]:
    """`pid` and the processes above it: whoever runs the playbook must survive it."""
    above = set()
    while pid > 0:
        above.add(pid)
        stat = Path(f"/proc/{pid}/stat").read_text()
        pid = int(stat.rsplit(")", 1)[1].split()[1])
    return above
