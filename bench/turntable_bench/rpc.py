"""rpcserver and rpcclient beside bare sockets, and what an event of their simulation costs.

The server's work takes no time, so what is measured is how requests get in and answers out: by
sockets and by AF_XDP. Bare sockets are udp-pingpong's, with datagrams of the same size. A veth runs
the receiver's stack in the sender's context, so AF_XDP at one end moves cost to the other one: the
processor time of both ends is shown beside.
"""

from __future__ import annotations

import contextlib
import functools
import json
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from .comparison import (
    OURS,
    YARDSTICK,
    Comparison,
    Limit,
    Outcome,
    Reading,
    Unit,
    alternate,
    alternate_all,
    repeat,
)
from .namespaces import (
    CLIENT_ADDRESS,
    SERVER_ADDRESS,
    Hosts,
    direct_hosts,
    enter,
    transmit_checksum_off,
)
from .nodes import DRAIN_MS, LEAD_MS, WARMUP_MS
from .processes import Argv, Node, cpu_seconds, node, pinned, run, running, wait_ready
from .settings import Settings

CLIENT_CPU, SERVER_CPU = 0, 1
RPC_PORT, BARE_PORT, CLIENT_PORT = 2000, 7000, 4000
PACKET_BYTES, SENT_AT = 52, 36  # what the server gives back as it was: where udp-pingpong's mark is
OUTSTANDING = 64
RATE_PER_S = 60_000
MEASURE_MS = 1_500
EVENT_GOAL_NS = 500
SIMULATED = 1_000_000  # requests

WORK = {
    "dilation": 1,
    "service": {"distribution": "fixed", "us": 0},
    "jitter": {"probability": 0, "factor": 1},
    "drop_clones": False,
}


def measure(settings: Settings) -> list[Outcome | Reading]:
    return [
        *_servers(settings, "sockets"),
        *_servers(settings, "af_xdp"),
        _client(settings, "sockets"),
        _client(settings, "af_xdp"),
        *(_simulation(settings, method) for method in ("noclone", "netclone")),
    ]


@contextlib.contextmanager
def _hosts(name: str) -> Iterator[Hosts]:
    """Checksums are complete: frames that AF_XDP takes are seen by no network stack."""
    with direct_hosts(name) as hosts:
        for namespace in (hosts.client, hosts.server):
            transmit_checksum_off(namespace, "data")
        yield hosts


def _datagrams(kind: str) -> list[str]:
    return ["--datagrams", kind, *(["--interface", "data"] if kind == "af_xdp" else [])]


def _servers(settings: Settings, kind: str) -> list[Outcome]:
    def compared(what: str, unit: Unit) -> Comparison:
        return Comparison(f"rpc server, {kind}: {what}", "udp-pingpong", "rpcserver", unit)

    comparisons = [
        compared("throughput", Unit.PAIRS_PER_S),
        compared("the server's time", Unit.CPU_NS_PER_OP),
        compared("both ends' time", Unit.CPU_NS_PER_OP),
    ]
    with _hosts("s") as hosts:
        sides = {
            YARDSTICK: functools.partial(_bare_server, settings, hosts),
            OURS: functools.partial(_rpcserver, settings, hosts, kind),
        }
        return alternate_all(comparisons, settings.rounds, sides)


def _bare_server(settings: Settings, hosts: Hosts) -> Sequence[float]:
    options = ["--address", SERVER_ADDRESS, "--udp-port", str(BARE_PORT)]
    echo = [settings.binary("udp-pingpong"), "server", *options]
    with running([*enter(hosts.server), *pinned(SERVER_CPU, echo)]) as server:
        wait_ready(server, "udp-pingpong")
        return _loaded(settings, hosts, BARE_PORT, server.pid)


def _rpcserver(settings: Settings, hosts: Hosts, kind: str) -> Sequence[float]:
    with _server_node(settings, hosts, kind) as server:
        return _loaded(settings, hosts, RPC_PORT, server.process.pid)


@contextlib.contextmanager
def _server_node(settings: Settings, hosts: Hosts, kind: str) -> Iterator[Node]:
    prefix = [*enter(hosts.server), *pinned(SERVER_CPU, [])]
    options = ["--address", SERVER_ADDRESS, "--port", str(RPC_PORT), *_datagrams(kind)]
    with node(settings.binary("rpcserver"), prefix, options) as server:
        server.call("prepare", server=0, mode="slots", workers=1, seed=1, **WORK)
        yield server


def _loaded(settings: Settings, hosts: Hosts, port: int, server: int) -> Sequence[float]:
    """Pairs per second; processor time per pair of the server, and of server and client."""
    before = cpu_seconds(server)
    cpu_s, answer = _bare_client(settings, hosts, port)
    server_ns = (cpu_seconds(server) - before) * 1e9 / answer["pairs_in_all"]
    client_ns = cpu_s * 1e9 / answer["pairs_in_all"]
    return answer["pairs_per_s"], server_ns, server_ns + client_ns


def _bare_client(settings: Settings, hosts: Hosts, port: int) -> tuple[float, dict[str, Any]]:
    """Closed loops; zeros with a mark among them are a request."""
    load: Argv = [
        *[settings.binary("udp-pingpong"), "client"],
        *["--address", SERVER_ADDRESS, "--udp-port", str(port)],
        *["--outstanding", str(OUTSTANDING), "--flows", "1"],
        *["--payload-bytes", str(PACKET_BYTES), "--mark-offset", str(SENT_AT)],
        *["--prefix-hex", "00" * SENT_AT],
        *["--warmup", "0.2", "--seconds", str(MEASURE_MS / 1000)],
    ]
    done = run([*enter(hosts.client), *pinned(CLIENT_CPU, load)])
    return done.cpu_s, json.loads(done.output)


def _client(settings: Settings, kind: str) -> Outcome:
    comparison = Comparison(
        f"rpc client, {kind}, {RATE_PER_S:,}/s", "udp-pingpong", "rpcclient", Unit.CPU_NS_PER_OP
    )
    with _hosts("r") as hosts, _server_node(settings, hosts, "sockets"):

        def bare() -> float:
            cpu_s, answer = _bare_client(settings, hosts, RPC_PORT)
            return cpu_s * 1e9 / answer["pairs_in_all"]

        sides = {YARDSTICK: bare, OURS: functools.partial(_rpcclient, settings, hosts, kind)}
        return alternate(comparison, settings.rounds, sides)


def _rpcclient(settings: Settings, hosts: Hosts, kind: str) -> float:
    """Processor time of a request; all of them must have been answered."""
    prefix = [*enter(hosts.client), *pinned(CLIENT_CPU, [])]
    options = ["--address", CLIENT_ADDRESS, "--port", str(CLIENT_PORT), *_datagrams(kind)]
    with node(settings.binary("rpcclient"), prefix, options) as client:
        client.call("prepare", **_load())
        before = client.cpu_s()
        client.start(LEAD_MS, WARMUP_MS, MEASURE_MS, DRAIN_MS)
        client.call("wait", deadline_s=30)
        cpu_s = client.cpu_s() - before
        statistics = client.call("stats")
    if statistics["unanswered"]:
        raise RuntimeError(f"rpcclient: {statistics['unanswered']} requests were not answered")
    return cpu_s * 1e9 / statistics["requests_total"]


def _load() -> dict[str, Any]:
    return {
        "method": "noclone",
        "clients": [0],
        "clients_total": 1,
        "servers": [{"address": SERVER_ADDRESS, "port": RPC_PORT}],
        "coordinator": None,
        "switch_server_address": None,
        "rate_per_s": RATE_PER_S,
        "arrivals": {"process": "exponential"},
        "seed": 1,
        "outstanding_max": 0,
        "mix": None,
        "work": WORK | {"workers": 1},
    }


def _simulation(settings: Settings, method: str) -> Reading:
    """4 servers with 8 workers at half their capacity."""
    limit = Limit(f"simulation, {method}: an event", Unit.CPU_NS_PER_OP, EVENT_GOAL_NS)
    cell = {
        "method": method,
        "servers": 4,
        "clients": 4,
        "load": 0.5,
        "seed": 1,
        "requests": SIMULATED,
        "work": {
            "service": {"distribution": "exp25"},
            "jitter": {"probability": 0.01, "factor": 15},
            "dilation": 1,
            "workers": 8,
        },
    }
    return repeat(limit, settings.rounds, lambda: _event_ns(settings, cell))


def _event_ns(settings: Settings, cell: dict[str, Any]) -> float:
    program = settings.binary("netclone-simulate")
    with subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as simulation:
        assert simulation.stdin is not None and simulation.stdout is not None
        simulation.stdin.write(json.dumps(cell))
        simulation.stdin.close()
        answer = json.loads(simulation.stdout.read())
        cpu_s = cpu_seconds(simulation.pid)  # it is not waited for yet
    return cpu_s * 1e9 / answer["events"]
