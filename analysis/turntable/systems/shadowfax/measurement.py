"""What one successful attempt measured: clients in a closed pipeline or an open loop, at stores.

raw.py reads it. Counts are of the measured window unless a name ends in `_total`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from turntable import measurement

Texts = tuple[str, ...]  # HdrHistogram V2, one of each client host


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
    unanswered_total: int
    adds_issued_total: int  # since the stores were filled
    adds_acknowledged_total: int
    round_trip_ns: Texts
    round_trip_mean_us: float | None  # over all batches; None: there was none
    cpu_s: float
    threads: int
    wait_share: float | None  # of the time: the worst thread was ready, without a processor
    per_second: Sequence[Mapping[str, float]]
    offered: int | None  # None: pipelines were kept full
    latency_ns: Texts  # from the intended instant; empty: pipelines were kept full
    send_late_ns: Texts


@dataclass(frozen=True, kw_only=True)
class Servers:
    """All stores together."""

    workers: int
    operations: int
    refused_batches: int
    pending: int
    busy_share: float  # of the workers' time, on a processor
    wait_share: float | None  # of the time: the worst worker was ready, without a processor
    device_read_bytes_total: int
    device_written_bytes_total: int
    sum: int | None  # of all values; None: nobody asked, for upserts replace them
    found: int | None  # keys with a value


@dataclass(frozen=True, kw_only=True)
class Measurement(measurement.Measurement):
    clients: Clients
    servers: Servers

    @property
    def requests_total(self) -> int:
        return self.clients.operations + self.clients.unanswered_total

    @property
    def ops_per_s(self) -> float:
        return self.clients.operations / self.seconds
