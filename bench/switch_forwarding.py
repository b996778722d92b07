#!/usr/bin/env python3
"""Closed-loop UDP pairs/s through the software switch, beside a plain AF_PACKET forwarder.

Builds three network namespaces (client, switch, server) joined by two veth pairs, and runs both
forwarders in turn, on the same links, under the same load of key-value packets; the order changes
every round. Prints every run, the medians and their ratio.

    sudo python3 bench/switch_forwarding.py [--build build] [--rounds 9] [--outstanding 256]

Exit status: 0, or 1 when the ratio of the medians is below --minimum. Needs root, iproute2 and the
built programs.
"""

from __future__ import annotations

import argparse
import array
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

SIOCETHTOOL = 0x8946
ETHTOOL_STXCSUM = 0x17  # <linux/ethtool.h>: set transmit checksumming
CLONE_NEWNET = 0x40000000

CLIENT_ADDRESS, SERVER_ADDRESS = "198.19.254.1", "198.19.254.2"
CLIENT_MAC, SERVER_MAC = "02:00:00:00:fe:01", "02:00:00:00:fe:02"
UDP_PORT = 1152  # key-value traffic (docs/architecture.md §3), which both forwarders carry alike
GETREQ, GETRES = "0030", "0009"
KEY_BYTES = 16
READY_DEADLINE_S = 20


def ip(arguments: str) -> None:
    """Runs `ip`, failing with its own message."""
    done = subprocess.run(["ip", *arguments.split()], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ip {arguments}: {done.stderr.strip()}")


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
    value = array.array("B", struct.pack("II", ETHTOOL_STXCSUM, 0))
    request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
    with inside(namespace), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCETHTOOL, request)


@dataclass(frozen=True)
class Topology:
    """Client and server hosts with one veth each into the switch's namespace."""

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

    def namespaces(self) -> tuple[str, str, str]:
        return (self.client, self.server, self.switch)

    def build(self) -> None:
        for namespace in self.namespaces():
            ip(f"netns add {namespace}")
            with inside(namespace):
                Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
        hosts = (
            (self.client, "to_client", CLIENT_ADDRESS, CLIENT_MAC, SERVER_ADDRESS, SERVER_MAC),
            (self.server, "to_server", SERVER_ADDRESS, SERVER_MAC, CLIENT_ADDRESS, CLIENT_MAC),
        )
        for namespace, peer, address, mac, other, other_mac in hosts:
            link = f"data address {mac} type veth peer name {peer} netns {self.switch}"
            ip(f"-n {namespace} link add {link}")
            transmit_checksum_off(namespace, "data")
            transmit_checksum_off(self.switch, peer)
            ip(f"-n {namespace} address add {address}/30 dev data")
            ip(f"-n {namespace} link set data up")
            ip(f"-n {self.switch} link set {peer} up")
            ip(f"-n {namespace} neighbour add {other} lladdr {other_mac} dev data")

    def remove(self) -> None:
        for namespace in self.namespaces():
            if namespace_file(namespace).exists():
                ip(f"netns delete {namespace}")


@contextlib.contextmanager
def running(namespace: str, argv: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A program inside a namespace, ended with SIGTERM, then SIGKILL."""
    process = subprocess.Popen(
        ["ip", "netns", "exec", namespace, *argv], stdout=subprocess.PIPE, text=True
    )
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
    """Returns when the program has printed its first line."""
    assert process.stdout is not None
    if process.stdout.readline().strip() != "ready":
        raise RuntimeError(f"{what} ended before it was ready; its message is above")


@dataclass(frozen=True)
class Run:
    """What one run gave. The processor time depends less than the rate on what else is running."""

    pairs_per_s: float
    cpu_us_per_pair: float  # of the forwarder


def cpu_seconds(pid: int) -> float:
    """Processor time of all threads (first field of schedstat, ns)."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) * 1e-9


def key_value_tables() -> list[dict[str, object]]:
    """One partition at the server; p4/shared says what the tables do."""
    whole = {"key": {"slot": {"low": 0, "high": 32767}}, "priority": 0}
    server = {"mac": SERVER_MAC, "ip": SERVER_ADDRESS, "udp_port": UDP_PORT}
    tables = (
        ("request_partition", "to_server", whole, {"port": 2, **server}),
        ("answer_partition", "from_first_server", whole, server),
        ("forwarding", "forward", route(CLIENT_ADDRESS), {"port": 1, "mac": CLIENT_MAC}),
        ("forwarding", "forward", route(SERVER_ADDRESS), {"port": 2, "mac": SERVER_MAC}),
    )
    return [
        {"op": "insert", "table": table_name(block), "action": action, "data": data, **match}
        for block, action, match, data in tables
    ]


def table_name(block: str) -> str:
    return f"pipe.SwitchIngress.{block}.{'ipv4_lpm' if block == 'forwarding' else block}"


def route(address: str) -> dict[str, object]:
    return {"key": {"dst_addr": {"value": address, "prefix_len": 32}}}


class Bench:
    """One load through one of the two forwarders."""

    def __init__(self, options: argparse.Namespace, topology: Topology) -> None:
        self.options = options
        self.topology = topology
        self.bin = options.build / "bin"

    @contextlib.contextmanager
    def plain(self) -> Iterator[subprocess.Popen[str]]:
        ports = "--port to_client --port to_server"
        rules = f"--forward {CLIENT_MAC}=to_client --forward {SERVER_MAC}=to_server"
        argv = [str(self.bin / "plain-forwarder"), *ports.split(), *rules.split()]
        with running(self.topology.switch, argv) as process:
            wait_ready(process, "plain-forwarder")
            yield process

    @contextlib.contextmanager
    def softswitch(self) -> Iterator[subprocess.Popen[str]]:
        with tempfile.TemporaryDirectory(prefix="switch-bench-") as directory:
            ports = "--port 1=to_client --port 2=to_server"
            where = ["--directory", directory, "--program", str(self.options.program)]
            polling = ["--busy-poll-ns", str(self.options.busy_poll_ns)]
            argv = [str(self.bin / "softswitch"), *where, *ports.split(), *polling]
            with running(self.topology.switch, argv) as process:
                self.nodectl(directory, process, self.requests())
                yield process
                self.check_drops(self.nodectl(directory, process, [{"command": "port_stats"}]))

    def requests(self) -> list[dict[str, object]]:
        """What the program needs to carry the load."""
        if self.options.program.stem == "static_forwarder":
            hosts = ((CLIENT_MAC, 1), (SERVER_MAC, 2))
            return [{"command": "forward", "args": {"mac": m, "port": p}} for m, p in hosts]
        return [{"command": "table_write", "args": {"updates": key_value_tables()}}]

    def nodectl(
        self, directory: str, process: subprocess.Popen[str], requests: list[dict[str, object]]
    ) -> list[dict[str, object]]:
        """Asks the switch; waits for its control socket first."""
        wait_for_socket(Path(directory) / "softswitch.sock", process)
        text = json.dumps([{"node": "softswitch", **request} for request in requests])
        argv = [self.bin / "nodectl", "--directory", directory]
        done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"softswitch refused {text}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    @staticmethod
    def check_drops(answers: list[dict]) -> None:
        for port in answers[0]["result"]["ports"]:
            dropped = {reason: n for reason, n in port["drops"].items() if n}
            if dropped:
                print(f"  softswitch port {port['port']} dropped {dropped}")

    def measure(self, forwarder: str) -> Run:
        """One run; one that loses requests is no result."""
        load = str(self.bin / "udp-pingpong")
        where = f"--address {SERVER_ADDRESS} --udp-port {UDP_PORT}".split()
        # A mark behind the operation header tells late answers apart.
        shape = (
            f"--prefix-hex {GETREQ} --mark-offset {len(GETREQ) // 2 + KEY_BYTES}"
            f" --outstanding {self.options.outstanding} --flows {self.options.flows}"
            f" --seconds {self.options.seconds}"
        )
        server_argv = [load, "server", *where, "--prefix-hex", GETRES]
        enter = ["ip", "netns", "exec", self.topology.client]
        client = [*enter, load, "client", *where, *shape.split()]
        with (
            getattr(self, forwarder)() as process,
            running(self.topology.server, server_argv) as server,
        ):
            wait_ready(server, "udp-pingpong server")
            before = cpu_seconds(process.pid)
            done = subprocess.run(client, capture_output=True, text=True, check=True)
            used = cpu_seconds(process.pid) - before
        result = json.loads(done.stdout)
        if result["lost"] or not result["pairs"]:
            raise RuntimeError(f"{forwarder}: {result['lost']} requests lost: {result}")
        return Run(result["pairs_per_s"], used * 1e6 / result["pairs_in_all"])


def wait_for_socket(path: Path, process: subprocess.Popen[str]) -> None:
    """Waits until the control socket can be connected to; the process may end instead."""
    deadline = time.monotonic() + READY_DEADLINE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(path))
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.005)
            raise RuntimeError("softswitch ended before it was ready; its message is above")
    raise RuntimeError(f"nobody listens on {path} after {READY_DEADLINE_S} s")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build"), help="build directory")
    parser.add_argument(
        "--program", default="nocache", help="P4 program, or static_forwarder: no tables at all"
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0, help="measured time of each run")
    parser.add_argument("--outstanding", type=int, default=256)
    parser.add_argument("--flows", type=int, default=8)
    parser.add_argument("--busy-poll-ns", type=int, default=0)
    parser.add_argument("--minimum", type=float, default=0.8, help="ratio to reach")
    parser.add_argument("--prefix", default=f"ttbench{os.getpid()}", help="of the namespaces")
    parser.add_argument("--json", type=Path, help="write the numbers there")
    options = parser.parse_args()
    directory = "bench" if options.program == "static_forwarder" else "p4"
    options.program = options.build / "lib" / directory / f"{options.program}.so"
    return options


def median_of(runs: list[Run]) -> Run:
    return Run(
        statistics.median(run.pairs_per_s for run in runs),
        statistics.median(run.cpu_us_per_pair for run in runs),
    )


def show(title: str, runs: dict[str, Run]) -> None:
    texts = (
        f"{name} {run.pairs_per_s:>9,.0f} pairs/s {run.cpu_us_per_pair:5.2f} us CPU/pair"
        for name, run in runs.items()
    )
    print(f"{title}: {'   '.join(texts)}", flush=True)


def main() -> int:
    options = parse_arguments()
    if os.geteuid() != 0:
        print("switch_forwarding.py: needs root, for network namespaces; run it with sudo")
        return 2
    topology = Topology(options.prefix)
    runs: dict[str, list[Run]] = {"plain": [], "softswitch": []}
    try:
        topology.build()
        bench = Bench(options, topology)
        for number in range(options.rounds):
            order = list(runs) if number % 2 == 0 else list(reversed(runs))
            for forwarder in order:
                runs[forwarder].append(bench.measure(forwarder))
            show(f"round {number + 1}", {name: values[-1] for name, values in runs.items()})
    finally:
        topology.remove()
    medians = {name: median_of(values) for name, values in runs.items()}
    show("median", medians)
    ratio = medians["softswitch"].pairs_per_s / medians["plain"].pairs_per_s
    print(f"softswitch / plain = {ratio:.3f} pairs/s (expected at least {options.minimum})")
    if options.json:
        report = {name: [asdict(run) for run in values] for name, values in runs.items()}
        options.json.write_text(json.dumps({"runs": report, "ratio": ratio}, indent=2))
    return 0 if ratio >= options.minimum else 1


if __name__ == "__main__":
    sys.exit(main())
