"""mcload measures delay-line: a server that gives known delays and logs those that it really gave.

Both programs run before all ordinary threads, if they may: what is checked is the measurement, not
how busy the machine is. They do not spin: the kernel stops realtime threads that never sleep for a
part of each second.
"""

from __future__ import annotations

import contextlib
import json
import math
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram

from .comparison import Limit, Reading, Unit
from .processes import free_ports, run, run_directory, running
from .settings import Settings

REQUESTS, RATE_PER_S = 1_000_000, 20_000
CONNECTIONS = 2000  # many more than are under way: nothing is withheld
DELAYS = {
    "lognormal": "lognormal:20000,0.5",
    "exponential": "exponential:0.00005",
    "bimodal": "bimodal:10000,50000,0.1",
}
PERCENTILES = ("p50", "p99", "p999")
MAX_ERROR_PERCENT = 2.0


def measure(settings: Settings) -> list[Reading]:
    readings: list[Reading] = []
    for name, delays in DELAYS.items():
        measured, log = play(settings, delays)
        for percentile in PERCENTILES:
            what = f"mcload, {name} delays: {percentile}"
            errors = _error_percent(measured, log, percentile, "latency_us")
            readings.append(Reading(Limit(what, Unit.PERCENT, MAX_ERROR_PERCENT), [errors]))
            errors = _error_percent(measured, log, percentile, "from_send_us")
            readings.append(Reading(Limit(f"{what}, from the send", Unit.PERCENT), [errors]))
        late = measured["send_late_us"]
        readings += [
            Reading(Limit(f"mcload, {name} delays: D of arrivals", Unit.D), [distance(log)]),
            Reading(Limit(f"mcload, {name} delays: lateness p99", Unit.LATE_US), [late["p99"]]),
        ]
    return readings


def play(settings: Settings, delays: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What mcload measured, and what the delay line has given."""
    with run_directory() as directory:
        log = directory / "log.json"
        words = ["--delay-us", delays, "--sets-at-once", "--realtime"]
        with delay_line(settings, words, log) as server:
            mcload(settings, server, ["--loadonly"])
            server.reset()
            result = directory / "result.json"
            seconds = REQUESTS / RATE_PER_S
            load = ["-q", str(RATE_PER_S), "-t", str(seconds), "-c", str(CONNECTIONS)]
            own = ["--noload", "--realtime", "--json", str(result)]
            mcload(settings, server, [*load, *own])
        return json.loads(result.read_text()), json.loads(log.read_text())


@dataclass(frozen=True)
class Server:
    port: int

    def reset(self) -> None:
        """Forgets the delays so far."""
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(b"stats reset\r\n")
            connection.recv(100)


@contextlib.contextmanager
def delay_line(settings: Settings, words: list[str], log: Path) -> Iterator[Server]:
    (port,) = free_ports(1)
    program = settings.build / "tests" / "delay-line"
    with running([program, "--listen", f"127.0.0.1:{port}", "--log", log, *words]) as process:
        assert process.stdout is not None
        if process.stdout.readline().strip() != "listening":
            raise RuntimeError("delay-line ended before it listened; its message is above")
        yield Server(port)


def mcload(settings: Settings, server: Server, words: list[str]) -> str:
    program = settings.binary("mcload")
    return run([program, "-s", f"127.0.0.1:{server.port}", *words], deadline_s=300).output


def distance(log: Mapping[str, Any]) -> float:
    """The largest distance between the gaps of arrivals and their exponential distribution."""
    gaps = HdrHistogram.decode(log["gaps_ns"])
    largest, seen = 0.0, 0
    for row in gaps.get_recorded_iterator():
        exact = -math.expm1(-row.value_iterated_from / 1e9 * RATE_PER_S)
        largest = max(largest, abs(exact - seen / gaps.total_count))
        seen += row.count_at_value_iterated_to
        exact = -math.expm1(-row.value_iterated_to / 1e9 * RATE_PER_S)
        largest = max(largest, abs(exact - seen / gaps.total_count))
    return largest


def _error_percent(
    measured: Mapping[str, Any], log: Mapping[str, Any], percentile: str, latencies: str
) -> float:
    gave = log[f"given_{percentile}_ns"] / 1e3
    return abs(measured[latencies][percentile] / gave - 1) * 100
