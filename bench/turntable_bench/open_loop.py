"""The most that rpcclient can offer, and how well it keeps its instants at what runs offer.

At the most, it wants to send more than it can and may have 64 requests without an answer, and the
server answers at once. Bare sockets: udp-pingpong with 64 datagrams of the same size under way.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hdrh.histogram import HdrHistogram

from .comparison import OURS, YARDSTICK, Comparison, Limit, Outcome, Reading, Unit, alternate_all
from .namespaces import (
    CLIENT_ADDRESS,
    SERVER_ADDRESS,
    Hosts,
    direct_hosts,
    enter,
    transmit_checksum_off,
)
from .processes import (
    Node,
    cpu_seconds,
    node,
    node_in,
    pinned,
    run,
    run_directory,
    running,
    wait_ready,
)
from .settings import Settings

CLIENT_CPU, SERVER_CPU = 0, 1
UNDER_WAY = 64
PACKET_BYTES = 52
PORT, BARE_PORT, CLIENT_PORT = 2000, 7000, 4000
TOO_MANY_PER_S = 1_000_000
# rpcclient and rpcserver run before ordinary threads, so bare sockets do so here.
REALTIME = ("chrt", "--rr", "1")

# Gaps: the client host of the emulated testbed, 4 clients. Its servers, 4 of 8 workers with a
# mean of 28.5 us and a dilation of 105, do 10,693 requests/s.
PEAK_PER_S = 10_693
CLIENTS = 4
GAPS = 1_000_000


def measure_peak(settings: Settings) -> list[Outcome]:
    return [*_throughput(settings, "sockets"), *_throughput(settings, "af_xdp")]


def measure_gaps(settings: Settings) -> list[Reading]:
    """Takes three minutes for 10^6 gaps, so it is done once, and with fewer at the higher rate."""
    half = _kept_instants(settings, 0.5, GAPS)
    most = _kept_instants(settings, 0.9, GAPS // 10)
    return [
        _reading("gaps: D of 10^6 from exponential, 50 % of the peak", Unit.D, half.distance, 0.01),
        _reading("gaps: lateness at 50 %, median", Unit.LATE_US, half.late_us[50]),
        _reading("gaps: lateness at 50 %, p99", Unit.LATE_US, half.late_us[99]),
        _reading("gaps: lateness at 90 %, median", Unit.LATE_US, most.late_us[50]),
        _reading("gaps: lateness at 90 %, p99", Unit.LATE_US, most.late_us[99]),
    ]


def _reading(what: str, unit: Unit, number: float, at_most: float | None = None) -> Reading:
    reading = Reading(Limit(what, unit, at_most), [number])
    print(f"\n{what}: {unit.text(number)}", flush=True)
    return reading


def _throughput(settings: Settings, kind: str) -> list[Outcome]:
    def comparison(what: str, unit: Unit, name: str) -> Comparison:
        return Comparison(f"rpc client at its most, {kind}: {what}", "udp-pingpong", name, unit)

    comparisons = [
        comparison("throughput", Unit.PAIRS_PER_S, "rpcclient"),
        comparison("its time", Unit.CPU_NS_PER_OP, "rpcclient"),
        comparison("the server's time", Unit.CPU_NS_PER_OP, "rpcserver"),
    ]
    with direct_hosts("p") as hosts:
        for namespace in (hosts.client, hosts.server):  # AF_XDP sees complete checksums
            transmit_checksum_off(namespace, "data")
        sides = {
            YARDSTICK: functools.partial(_bare_sockets, settings, hosts),
            OURS: functools.partial(_rpc, settings, hosts, kind),
        }
        return alternate_all(comparisons, settings.rounds, sides)


def _bare_sockets(settings: Settings, hosts: Hosts) -> tuple[float, float, float]:
    """Pairs/s, and nanoseconds of processor time of a pair at the client and at the server."""
    program = settings.binary("udp-pingpong")
    address = ["--address", SERVER_ADDRESS, "--udp-port", str(BARE_PORT)]
    server = [*enter(hosts.server), *REALTIME, *pinned(SERVER_CPU, [program, "server", *address])]
    load = [
        *[program, "client", *address],
        *["--outstanding", str(UNDER_WAY), "--flows", "1", "--payload-bytes", str(PACKET_BYTES)],
        *["--warmup", "0.2", "--seconds", "1.5"],
    ]
    with running(server) as echo:
        wait_ready(echo, program.name)
        before = cpu_seconds(echo.pid)
        done = run([*enter(hosts.client), *REALTIME, *pinned(CLIENT_CPU, load)])
        server_s = cpu_seconds(echo.pid) - before
    answer = json.loads(done.output)
    pairs = answer["pairs_in_all"]
    return answer["pairs_per_s"], done.cpu_s * 1e9 / pairs, server_s * 1e9 / pairs


def _rpc(settings: Settings, hosts: Hosts, kind: str) -> tuple[float, float, float]:
    with _serving(settings, hosts, kind) as server, _client(settings, hosts, kind) as client:
        _prepare(client, [0], TOO_MANY_PER_S, outstanding_max=UNDER_WAY)
        before = client.cpu_s(), server.cpu_s()
        _start(client, 1500)
        statistics = _finish(client)
        pairs = statistics["received_packets"]
        client_s, server_s = client.cpu_s() - before[0], server.cpu_s() - before[1]
        per_s = statistics["delivered"] * 1e9 / statistics["window_ns"]
        return per_s, client_s * 1e9 / pairs, server_s * 1e9 / pairs


@contextlib.contextmanager
def _serving(settings: Settings, hosts: Hosts, kind: str) -> Iterator[Node]:
    """An rpcserver whose requests take no time."""
    options = ["--address", SERVER_ADDRESS, "--port", str(PORT), *_by(kind)]
    prefix = [*enter(hosts.server), *pinned(SERVER_CPU, [])]
    with (
        run_directory() as directory,
        node_in(directory, settings.binary("rpcserver"), prefix, options) as server,
    ):
        server.call(
            "prepare",
            server=0,
            mode="slots",
            workers=UNDER_WAY,
            seed=1,
            dilation=1,
            service={"distribution": "fixed", "us": 0},
            jitter={"probability": 0, "factor": 1},
            drop_clones=False,
        )
        yield server


@contextlib.contextmanager
def _client(settings: Settings, hosts: Hosts, kind: str) -> Iterator[Node]:
    options = ["--address", CLIENT_ADDRESS, "--port", str(CLIENT_PORT), *_by(kind)]
    prefix = [*enter(hosts.client), *pinned(CLIENT_CPU, [])]
    with node(settings.binary("rpcclient"), prefix, options) as client:
        yield client


def _by(kind: str) -> list[str]:
    return [] if kind == "sockets" else ["--datagrams", kind, "--interface", "data"]


def _prepare(client: Node, clients: list[int], rate_per_s: float, outstanding_max: int) -> None:
    client.call(
        "prepare",
        method="noclone",
        clients=clients,
        clients_total=len(clients),
        servers=[{"address": SERVER_ADDRESS, "port": PORT}],
        rate_per_s=rate_per_s,
        seed=1,
        outstanding_max=outstanding_max,
    )


def _start(client: Node, measure_ms: float) -> None:
    client.start(1000, 200, measure_ms, 1000)


def _finish(client: Node) -> dict[str, Any]:
    client.call("wait", deadline_s=50)
    statistics: dict[str, Any] = client.call("stats")
    return statistics


@dataclass(frozen=True)
class Kept:
    """How well instants were kept."""

    distance: float
    late_us: Mapping[int, float]  # by percentile


def _kept_instants(settings: Settings, load: float, gaps: int) -> Kept:
    rate = load * PEAK_PER_S
    recorder = [
        *[settings.binary("gap-recorder"), "--address", SERVER_ADDRESS, "--port", str(PORT)],
        *["--gaps", str(gaps), "--rate", str(rate / CLIENTS)],
    ]
    with direct_hosts("g") as hosts:
        command = [*enter(hosts.server), *pinned(SERVER_CPU, recorder)]
        client_command = enter(hosts.client)
        options = ["--address", CLIENT_ADDRESS, "--port", str(CLIENT_PORT)]
        with (
            running(command) as process,
            node(settings.binary("rpcclient"), client_command, options) as client,
        ):
            wait_ready(process, "gap-recorder")
            _prepare(client, list(range(CLIENTS)), rate, outstanding_max=0)
            # Some more than are wanted; the recorder ends when it has its gaps.
            _start(client, 1.02 * gaps / rate * 1e3 + 1000)
            assert process.stdout is not None
            recorded = json.loads(process.stdout.readline())
            statistics = _finish(client)
    late = HdrHistogram.decode(statistics["send_late_ns"])
    return Kept(
        recorded["distance"], {at: late.get_value_at_percentile(at) / 1e3 for at in (50, 99)}
    )
