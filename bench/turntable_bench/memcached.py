"""Processor time of mcload beside memcaslap, at one memcached on a UNIX or TCP socket of loopback.

memcaslap is a closed loop, and its --tps does not slow it down, so it says the rate: mcload's
closed loop has the same connections and depth, and its open loop sends at the rate that memcaslap
has just had.
"""

from __future__ import annotations

import contextlib
import functools
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .comparison import OURS, YARDSTICK, Comparison, Outcome, Unit, alternate_all
from .processes import Finished, free_ports, need, pinned, run, running, wait_for_port
from .settings import Settings

SERVER_CPU, CLIENT_CPU = 0, 1
CONNECTIONS, UPDATE, KEY_BYTES, VALUE_BYTES, SECONDS = 16, 0.1, 30, 200, 3
WINDOW = 1024  # records of a connection of memcaslap's
RECORDS = CONNECTIONS * WINDOW


def measure(settings: Settings) -> list[Outcome]:
    need("memcached", "memcached")
    need("memcaslap", "libmemcached-tools")
    with memcached() as port, tempfile.TemporaryDirectory() as directory:
        bench = Bench(settings.binary("mcload"), port, Path(directory) / "memcaslap.cfg")
        bench.write_configuration()
        bench.mcload("--loadonly")
        return [*bench.compare(settings, "closed loop"), *bench.compare(settings, "open loop")]


@contextlib.contextmanager
def memcached() -> Iterator[int]:
    """On a free port of loopback."""
    (port,) = free_ports(1)
    words = ["memcached", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1", "-u", "root"]
    with running(pinned(SERVER_CPU, [*words, "-m", "256"])):
        wait_for_port(port, "memcached")
        yield port


@dataclass
class Bench:
    """Both generators, and how often memcaslap asked in its last run."""

    program: Path
    port: int
    configuration: Path
    rate_per_s: float = field(default=0, init=False)

    def compare(self, settings: Settings, way: str) -> list[Outcome]:
        def comparison(what: str, unit: Unit, goal: float | None = None) -> Comparison:
            ours = f"mcload, {way}"
            return Comparison(f"memcached, {way}: {what}", "memcaslap", ours, unit, goal)

        return alternate_all(
            [
                comparison("user time", Unit.CPU_US_PER_REQUEST, goal=3),
                comparison("all time", Unit.CPU_US_PER_REQUEST, goal=1),
                comparison("rate", Unit.REQUESTS_PER_S),
            ],
            settings.rounds,
            {
                YARDSTICK: self.memcaslap,
                OURS: functools.partial(self.ours, is_closed=way == "closed loop"),
            },
        )

    def write_configuration(self) -> None:
        """Of memcaslap: lengths of keys and values, shares of SET (0) and GET (1)."""
        self.configuration.write_text(
            f"key\n{KEY_BYTES} {KEY_BYTES} 1\nvalue\n{VALUE_BYTES} {VALUE_BYTES} 1\n"
            f"cmd\n0 {UPDATE}\n1 {1 - UPDATE}\n"
        )

    def memcaslap(self) -> Sequence[float]:
        words = [
            *("memcaslap", f"--servers=127.0.0.1:{self.port}", f"--cfg_cmd={self.configuration}"),
            *("--threads=1", f"--concurrency={CONNECTIONS}", f"--win_size={WINDOW // 1024}k"),
            f"--time={SECONDS}s",
        ]
        finished = run(pinned(CLIENT_CPU, words))
        requests = int(_found(r"Ops: (\d+)", finished))
        self.rate_per_s = float(_found(r"TPS: (\d+)", finished))
        return _times(finished, requests, self.rate_per_s)

    def ours(self, is_closed: bool) -> Sequence[float]:
        rate = 0 if is_closed else self.rate_per_s
        finished = self.mcload("--noload", "-q", str(rate), "-c", str(CONNECTIONS), "-d", "1")
        requests = int(_found(r"Total QPS = [\d.]+ \((\d+)", finished))
        return _times(finished, requests, float(_found(r"Total QPS = ([\d.]+)", finished)))

    def mcload(self, *words: str) -> Finished:
        same = ["-s", f"127.0.0.1:{self.port}", "-u", str(UPDATE), "-t", str(SECONDS)]
        content = ["-r", str(RECORDS), "-K", str(KEY_BYTES), "-V", str(VALUE_BYTES)]
        return run(pinned(CLIENT_CPU, [self.program, *same, *content, *words]))


def _times(finished: Finished, requests: int, rate_per_s: float) -> Sequence[float]:
    return finished.user_s * 1e6 / requests, finished.cpu_s * 1e6 / requests, rate_per_s


def _found(pattern: str, finished: Finished) -> str:
    found = re.search(pattern, finished.output)
    if found is None:
        raise RuntimeError(f"no {pattern} in the output:\n{finished.output[-2000:]}")
    return found[1]
