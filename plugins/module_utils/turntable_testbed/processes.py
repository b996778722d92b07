"""The processes of a testbed, ended by process id.

They are found by their namespace, by their environment (src/node/node_keeper.h) and, supervisors
and ssh connections, by their arguments. Some of them are its network rather than what runs on it:
the hosts' sshds, and the controller's open ssh connections.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from . import namespaces, sshd
from .errors import TestbedError

# How long the kernel may take to end processes that got SIGKILL, at least.
_KILL_DEADLINE_S = 5.0
# How many are logging in just now, as an sshd has it in its title.
_LOGINS_OF_SSHD = re.compile(r" \d+ of [\d-]+ startups$")


@dataclass(frozen=True)
class Process:
    """A process of the testbed.

    namespace: None if only its arguments or its environment name the testbed.
    run_dir: of the supervisor under which it was started, None if it was started otherwise.
    """

    pid: int
    namespace: str | None
    arguments: tuple[str, ...]
    run_dir: Path | None
    is_network: bool = False

    def __str__(self) -> str:
        # A process that changes its title leaves the rest of its arguments empty.
        command = " ".join(self.arguments).rstrip() or "?"
        command = _LOGINS_OF_SSHD.sub("", command)
        return f"{command} (pid {self.pid}, {self.namespace or 'outside'})"


def find(testbed: str) -> list[Process]:
    """Everything in a namespace of `testbed`, started by one of its supervisors, run as
    `supervisor … --testbed <testbed> …`, or holding an ssh connection to it open.
    """
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
        run_dir = _run_directory(entry, testbed)
        connection = _is_connection_to(arguments, testbed)
        if namespace or run_dir or connection or _is_supervisor_of(arguments, testbed):
            pid = int(entry.name)
            is_network = connection or sshd.program_of(pid) in sshd.PROGRAMS
            processes.append(Process(pid, namespace, arguments, run_dir, is_network))
    return processes


def find_nodes(testbed: str) -> list[Process]:
    """Those of `find` that are not the testbed's network."""
    return [process for process in find(testbed) if not process.is_network]


def find_abandoned(testbed: str) -> list[Process]:
    """What a supervisor had started that lives no more."""
    return [
        process
        for process in find_nodes(testbed)
        if process.run_dir and not _has_supervisor(process.run_dir)
    ]


def end(
    testbed: str, deadline_s: float, which: Callable[[str], list[Process]] = find
) -> list[Process]:
    """Ends the processes of `testbed` and those they start meanwhile; returns the ones that were
    there.

    which: `find` for all of them, `find_nodes` or `find_abandoned`. Each gets SIGTERM and
    `deadline_s` from then on to end in order, then SIGKILL.
    """
    ended: dict[int, Process] = {}
    kill_deadline_s = max(deadline_s, _KILL_DEADLINE_S)
    for number, patience_s in ((signal.SIGTERM, deadline_s), (signal.SIGKILL, kill_deadline_s)):
        until = None  # counted from the first signal: to find processes may take long
        # A node may start another one just before it ends: look again until there is none.
        while found := which(testbed):
            ended.update((process.pid, process) for process in found)
            now = time.monotonic()
            until = until or now + patience_s
            if now >= until:
                break
            _wait(_signal(found, number), until)
        if not found:
            return list(ended.values())
    raise TestbedError(
        f"testbed {testbed!r}: still running after SIGKILL: "
        f"{', '.join(map(str, found))}; expected them to end. "
        "Look at /proc/<pid>/stack for what they wait for, then run this again"
    )


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


def _run_directory(entry: Path, testbed: str) -> Path | None:
    """Of a process whose environment says that a supervisor of `testbed` started it."""
    try:
        words = entry.joinpath("environ").read_bytes().split(b"\0")
    except OSError:
        return None
    if f"TURNTABLE_TESTBED={testbed}".encode() not in words:
        return None
    prefix = b"TURNTABLE_RUN_DIR="
    found = [word.removeprefix(prefix) for word in words if word.startswith(prefix)]
    return Path(os.fsdecode(found[0])) if found else Path("/")  # none: of an older version


def _has_supervisor(run_dir: Path) -> bool:
    """A supervisor holds its lock as long as it lives (src/node/host_lock.h)."""
    try:
        with (run_dir / "supervisor.lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _is_supervisor_of(arguments: tuple[str, ...], testbed: str) -> bool:
    if not arguments or Path(arguments[0]).name != "supervisor":
        return False
    return ("--testbed", testbed) in pairwise(arguments) or f"--testbed={testbed}" in arguments


def _is_connection_to(arguments: tuple[str, ...], testbed: str) -> bool:
    """An ssh that keeps a connection open calls itself `ssh: <its socket> [mux]`; the socket is in
    turntable_ssh_dir.
    """
    pattern = rf"ssh: \S*/{re.escape(testbed)}/ssh/\S+ \[mux\]"
    return bool(arguments) and re.fullmatch(pattern, arguments[0]) is not None


def _ancestors(pid: int) -> set[int]:
    """`pid` and the processes above it: whoever runs the playbook must survive it."""
    above = set()
    while pid > 0:
        above.add(pid)
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            break  # ended meanwhile: what was above it is so no more
        pid = int(stat.rsplit(")", 1)[1].split()[1])
    return above
