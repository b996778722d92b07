"""Programs under measurement: pinned, ended in order, their processor time."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .comparison import NotRunError

Argv = Sequence[str | Path]
READY_DEADLINE_S = 20
RUN_DEADLINE_S = 120
_MS = 1_000_000  # ns


def need(program: str, package: str) -> None:
    """Raises NotRunError unless `program` can be started."""
    if shutil.which(program) is None:
        raise NotRunError(f"{program} is missing; the Debian package {package} has it")


def pinned(cpu: int, argv: Argv) -> list[str | Path]:
    """`argv` on one of the processors this program may use (the last one if they are fewer)."""
    usable = sorted(os.sched_getaffinity(0))
    return ["taskset", "--cpu-list", str(usable[min(cpu, len(usable) - 1)]), *argv]


@dataclass(frozen=True)
class Finished:
    """What a program printed, and the processor time of all its threads, user and system."""

    output: str
    cpu_s: float
    user_s: float


def run(argv: Argv, deadline_s: int = RUN_DEADLINE_S) -> Finished:
    """Runs a program to its end; raises RuntimeError with its last words if it failed."""
    with tempfile.TemporaryFile("w+") as output:
        limited = ["timeout", "--foreground", str(deadline_s), *argv]
        process = subprocess.Popen(limited, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)  # with what `timeout` has waited for
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode != 0:
        command = " ".join(map(str, argv))
        raise RuntimeError(f"{command}: ended with {process.returncode}:\n{text[-2000:]}")
    return Finished(text, usage.ru_utime + usage.ru_stime, usage.ru_utime)


def cpu_ns_per_operation(cpu_s: Callable[[int], float], short: int, long: int) -> float:
    """Processor time of one more operation, in ns: a long run less a short one.

    Both pay for the start (of a JVM, of a store) and for warming caches up; `cpu_s(operations)`
    makes a run and gives its processor time in seconds.
    """
    first = cpu_s(short)
    return (cpu_s(long) - first) * 1e9 / (long - short)


@contextlib.contextmanager
def running(argv: Argv) -> Iterator[subprocess.Popen[str]]:
    """A program for the time of the context; ended with SIGTERM, then SIGKILL."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_ready(process: subprocess.Popen[str], what: str) -> None:
    """Returns when the program has printed its first line, "ready"."""
    assert process.stdout is not None
    if process.stdout.readline().strip() != "ready":
        raise RuntimeError(f"{what} ended before it was ready; its message is above")


def free_ports(count: int) -> list[int]:
    """Of loopback, TCP."""
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def wait_for_port(port: int, who: str) -> None:
    """Until somebody listens at it on loopback; raises RuntimeError."""
    deadline = time.monotonic() + READY_DEADLINE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
    raise RuntimeError(f"{who} does not listen at port {port} after {READY_DEADLINE_S} s")


def cpu_seconds(pid: int) -> float:
    """Processor time of the process so far, with that of threads that have ended.

    /proc/PID/task knows only threads that still live: a client's are gone when it has finished.
    """
    clock = ctypes.c_int()
    error = ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock))
    if error != 0:
        raise OSError(error, f"no processor clock of process {pid}: {os.strerror(error)}")
    return time.clock_gettime(clock.value)


def softirq_seconds() -> float:
    """Time that the machine has spent in soft interrupts, to a hundredth. What they do while a
    process runs is in the process's time too.
    """
    ticks = int(Path("/proc/stat").read_text().split(maxsplit=8)[7])
    return ticks / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Node:
    """A node that is up, and how its control socket is asked (docs/architecture.md §2)."""

    name: str
    process: subprocess.Popen[str]
    directory: Path
    nodectl: Path

    def call(self, command: str, **arguments: Any) -> Any:
        """The result of one command; raises RuntimeError with the node's error."""
        request = [{"node": self.name, "command": command, "args": arguments}]
        argv = [self.nodectl, "--directory", self.directory]
        text = json.dumps(request)
        done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name} refused {command}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)[0]["result"]

    def start(self, lead_ms: float, warmup_ms: float, measure_ms: float, drain_ms: float) -> None:
        """Of a client: its iteration begins after `lead_ms`."""
        self.call(
            "start",
            start_at_ns=time.time_ns() + round(lead_ms * _MS),
            warmup_ns=round(warmup_ms * _MS),
            measure_ns=round(measure_ms * _MS),
            drain_ns=round(drain_ms * _MS),
        )

    def cpu_s(self) -> float:
        return cpu_seconds(self.process.pid)


@contextlib.contextmanager
def node(program: Path, prefix: Argv, options: Argv) -> Iterator[Node]:
    """A node, started by `prefix` (a namespace, a processor) with a run directory of its own."""
    with (
        run_directory() as directory,
        node_in(directory, program, prefix, options) as started,
    ):
        yield started


@contextlib.contextmanager
def run_directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="turntable-bench-") as directory:
        yield Path(directory)


@contextlib.contextmanager
def node_in(directory: Path, program: Path, prefix: Argv, options: Argv) -> Iterator[Node]:
    """A node whose run directory others may share: the agent finds its switch there."""
    with running([*prefix, program, "--directory", directory, *options]) as process:
        _wait_for_socket(directory / f"{program.name}.sock", process)
        yield Node(program.name, process, directory, program.with_name("nodectl"))


def _wait_for_socket(path: Path, process: subprocess.Popen[str]) -> None:
    """Waits until the control socket can be connected to; the process may end instead."""
    deadline = time.monotonic() + READY_DEADLINE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(path))
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.005)
            raise RuntimeError(f"{path.stem} ended before it was ready; its message is above")
    raise RuntimeError(f"nobody listens on {path} after {READY_DEADLINE_S} s")
