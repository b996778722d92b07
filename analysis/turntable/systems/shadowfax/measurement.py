"""What one successful attempt measured: clients in a closed pipeline or an open loop, at stores.

raw.py reads it. Counts are of the measured window unless a name ends in `_total`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from turntable import measurement

Texts = tuple[str, ...]  # HdrHistogram V2, one of each client host


@dataclass(frozen=True, kw_only=True)
class Samples:
    """What clients were answered, by intervals of the window from its begin on."""

    seconds: float  # of each
    operations: Sequence[int]
    pending: Sequence[int]  # answered as pending first
    refused_batches: Sequence[int]
    by_server: Sequence[Sequence[int]]  # operations, by number of the server

    def ends_s(self) -> list[float]:
        return [(index + 1) * self.seconds for index in range(len(self.operations))]

    def of_server(self, server: int) -> list[int]:
        """Its operations. A server that joins later has none in the first intervals."""
        return [counts[server] if server < len(counts) else 0 for counts in self.by_server]

    def between(self, from_s: float, to_s: float) -> list[int]:
        """Indexes of those that lie wholly between two instants of the window."""
        return [
            index
            for index, end in enumerate(self.ends_s())
            if end - self.seconds >= from_s and end <= to_s
        ]


@dataclass(frozen=True, kw_only=True)
class Migration:
    """Keys that move from one server to another (docs/shadowfax-design.md §3)."""

    steps_s: Mapping[str, float]  # by name: when it was, in seconds of the window
    records: int | None  # that were sent
    sampled: int | None  # that were there before the target owned the range; None: none was sought
    # Chains of which it was sent where they go on; records that were asked for then, until the end
    # of the window. None: a run of an earlier version.
    indirections: int | None
    fetched: int | None
    why: str | None  # it was cancelled, or had to be tried again

    @property
    def complete(self) -> bool:
        return "complete" in self.steps_s

    def since_begin_s(self, step: str) -> float | None:
        return (
            self.steps_s[step] - self.steps_s["prepare"]
            if {"prepare", step} <= self.steps_s.keys()
            else None
        )


@dataclass(frozen=True, kw_only=True)
class Clients:
    """All client hosts together."""

    operations: int  # answered in the window
    reads: int
    upserts: int
    adds: int
    not_found: int
    pending: int  # answered as pending first
    batches: int  # answered in the window
    refused_batches: int
    fill_ops_per_s: float | None  # keys that were stored before; None: a run of an earlier version
    unanswered_total: int
    adds_issued_total: int  # since the stores were filled
    adds_acknowledged_total: int
    round_trip_ns: Texts
    round_trip_mean_us: float | None  # over all batches; None: there was none
    cpu_s: float
    threads: int
    wait_share: float | None  # of the time: the worst thread was ready, without a processor
    samples: Samples
    silent_s: float  # the longest time in which a thread read no answer
    offered: int | None  # None: pipelines were kept full
    latency_ns: Texts  # from the intended instant; empty: pipelines were kept full
    send_late_ns: Texts


@dataclass(frozen=True, kw_only=True)
class Servers:
    """All stores together. Of memcached and Redis little is known."""

    version: str | None  # of memcached or Redis; None: Shadowfax
    workers: int
    operations: int | None
    busy_share: float | None  # of the workers' time, on a processor; None: they have ended
    wait_share: float | None  # of the time: the worst worker was ready, without a processor
    device_reads: int | None  # None: a run of an earlier version
    device_alone_reads_per_s: float | None  # that all devices give without stores; None: not asked
    device_read_bytes_total: int | None
    device_written_bytes_total: int | None
    sum: int | None  # of all values; None: nobody asked, for upserts replace them
    found: int | None  # keys with a value


@dataclass(frozen=True, kw_only=True)
class Measurement(measurement.Measurement):
    clients: Clients
    servers: Servers
    migrations: Sequence[Migration]
    # Shares of the hashes that servers own at the end, by number. None: equal ones for good.
    shares: Sequence[float] | None

    @property
    def requests_total(self) -> int:
        return self.clients.operations + self.clients.unanswered_total

    @property
    def ops_per_s(self) -> float:
        return self.clients.operations / self.seconds
