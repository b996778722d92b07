"""What one successful attempt measured: memcached under one load beside one aggressor.

raw.py reads it. Counts are of the measured window unless a name ends in `_total`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turntable import measurement

Texts = tuple[str, ...]  # HdrHistogram V2, one of each client host


@dataclass(frozen=True)
class Place:
    """Where the iteration stands in its profile."""

    aggressor: str
    load: float  # share of the peak
    index: int  # of the load, from 0
    repeat: int  # the baseline is measured several times per round


@dataclass(frozen=True, kw_only=True)
class Generator:
    """All load generators together."""

    target_per_s: float
    peak_per_s: float | None
    peak_confirmed: bool | None  # its search had time to measure both ends twice
    peak_found_at_ns: int | None  # CLOCK_REALTIME of the node; a run that goes on keeps its peak
    offered: int  # intended in the window
    delivered: int  # answers that came in it
    lost: int
    unsent: int
    withheld: int
    requests_total: int
    gets: int
    sets: int
    misses: int
    latency_ns: Texts  # from the intended instant
    from_send_ns: Texts
    send_late_ns: Texts
    wait_share: float | None  # of the time: the worst thread was ready, without a processor
    cpu_s: float
    per_second: Sequence[Mapping[str, float]]


@dataclass(frozen=True, kw_only=True)
class Progress:
    unit: str  # "bogo ops", "steps", "CPU s"
    amount: float
    seconds: float

    @property
    def per_s(self) -> float:
        return self.amount / self.seconds


@dataclass(frozen=True, kw_only=True)
class BestEffort:
    """The aggressor."""

    name: str
    command: str
    version: str | None
    count: int
    cpus: tuple[int, ...]
    cpu_s: float
    ended_early: str | None  # how
    progress: Progress | None
    cache: str | None  # the part that it is held to


@dataclass(frozen=True, kw_only=True)
class Memcached:
    restarted: bool
    cpu_s: float
    evictions: int
    switches: int  # of context, voluntary ones and others


@dataclass(frozen=True, kw_only=True)
class ProbeRow:
    """What a short piece of work took on one processor, alone or beside another one."""

    what: str  # "chase of 1024 KiB on CPU 0 beside stream on CPU 1"
    value: float
    unit: str  # "ns per step", "GB/s", "per µs"
    is_beside: bool
    is_shared: bool  # it needs caches or memory that others have a part of

    @property
    def is_of_processor(self) -> bool:
        """Of it alone."""
        return not (self.is_beside or self.is_shared)


@dataclass(frozen=True, kw_only=True)
class Measurement(measurement.Measurement):
    place: Place
    generator: Generator
    memcached: Memcached
    best_effort: BestEffort | None
    others_share: float | None  # of the processors' time, used by nobody who takes part
    applied: tuple[str, ...]  # what the isolation did
    probe: tuple[ProbeRow, ...]  # of the turn
    first_probe: tuple[ProbeRow, ...]  # of the run's first turn, where nodes remember it
    platform: Mapping[str, Any]

    @property
    def requests_total(self) -> int:
        return self.generator.requests_total

    @property
    def achieved_per_s(self) -> float:
        return self.generator.delivered / self.seconds

    @property
    def offered_per_s(self) -> float:
        """What the drawn schedule had in the window: the target, with the scatter of arrivals."""
        return self.generator.offered / self.seconds

    @property
    def achieved_share(self) -> float:
        """Of what was offered: that few requests were drawn is no fault of memcached."""
        return self.achieved_per_s / (self.offered_per_s or self.generator.target_per_s)
