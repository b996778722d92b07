"""Logs in the names and the format of NetClone's artifact: a latency in us per line, in the order
of the answers; the last line is no latency, but the total time in seconds.

    log-PROTOCOL-CLIENT-THREAD-SERVERS-SERVER_WORKERS-CLIENT_WORKERS-DISTRIBUTION-SECONDS-TARGET.txt
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from turntable_core.errors import TurntableError

# The artifact's numbers. RackSched is a setting of its switch, which a log does not tell.
PROTOCOLS = {"noclone": 0, "cclone": 1, "laedge": 2, "netclone": 3, "netclone-racksched": 3}
DISTRIBUTIONS = ("exp25", "bimodal25", "exp50", "bimodal50")

_NAME = re.compile(r"log-(\d+)-(\d+)-(\d+)-(\d+)-(\d+)-(\d+)-(\d+)-(\d+)-(\d+)\.txt")


@dataclass(frozen=True)
class Name:
    """What the name of a log tells."""

    protocol: int
    client: int  # from 1
    thread: int
    servers: int
    server_workers: int
    client_workers: int
    distribution: int
    seconds: int
    target_rps: int

    def __str__(self) -> str:
        return f"log-{'-'.join(map(str, astuple(self)))}.txt"


@dataclass(frozen=True)
class Log:
    name: Name
    latencies_us: tuple[int, ...]  # in the order of the answers
    total_s: float


def parse_name(name: str) -> Name:
    """Raises TurntableError."""
    found = _NAME.fullmatch(name)
    if not found:
        raise TurntableError(
            f"{name}: no log of NetClone; expected log- and nine numbers joined with -, then .txt, "
            "such as log-3-1-0-2-15-1-0-5-2000.txt"
        )
    return Name(*map(int, found.groups()))


def read(file: Path) -> Log:
    """Raises TurntableError for a file that is no log."""
    name, lines = parse_name(file.name), file.read_text(encoding="ascii").split()
    if not lines:
        raise TurntableError(f"{file}: empty; expected latencies, then the total time in seconds")
    *latencies, total = lines
    try:
        return Log(name, tuple(map(int, latencies)), float(total))
    except ValueError as error:
        raise TurntableError(
            f"{file}: {error}; expected a whole number of us per line, the total time last"
        ) from None


def write(directory: Path, name: Name, latencies_us: Sequence[float], total_s: float) -> Path:
    file = directory / str(name)
    lines = [str(round(latency)) for latency in latencies_us]
    file.write_text("\n".join([*lines, f"{total_s:f}", ""]), encoding="ascii")
    return file
