"""What one successful attempt measured, by partition; raw.py reads it.

None is what the raw files do not say: they are of an older version, or the method does not count
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

from turntable import measurement
from turntable.measurement import Punctuality
from turntable.systems.farreach.rotation import Rates
from turntable.systems.farreach.seconds import Second


@dataclass(frozen=True)
class ClientPartition:
    """Sums over all clients for one partition.

    `*_total` count the whole iteration, the others its measured window.
    """

    server_ops: int  # answered by a server
    switch_ops: int  # answered by the switch
    requests_total: int  # packets sent, retries included
    answers_total: int  # packets received, late ones included
    latency_sum_ns: int  # exact, of the window's operations
    # Latency in ns, HdrHistogram V2 text, of each client machine and kind of answer.
    histograms: tuple[str, ...]


@dataclass(frozen=True)
class LogicalServer:
    partition: int
    ops_per_s: float  # in the measured window
    busy_share: float  # of the measured window
    socket_drops: int
    served_total: int | None = None  # the whole iteration's answers
    forgiven_us: float | None = None  # capacity lost while the worker waited for a processor
    blocked_us: float | None = None  # ... and while its store held it up, or the method
    held_back_us: float = 0.0  # of that, by the method: value updates (NetCache)
    held_back_share: float = 0.0  # of the measured window
    updates_sent: int | None = None  # value updates, retries included; None: it sends none
    updates_acknowledged: int = 0
    update_round_trips_s: float = 0.0  # sum of theirs


@dataclass(frozen=True)
class SwitchPartition:
    """Packets of the whole iteration."""

    requests: int
    answers: int


@dataclass(frozen=True)
class Recovery:
    """What the cache-controller did for a switch that had been killed, and then did once more."""

    seconds: Mapping[str, float]  # by phase, in their order
    records: Mapping[str, int]  # by phase; 0: it is not about records
    restored: int  # keys
    # Of the records replayed to the servers, those that they did not have. None: a server had to be
    # asked twice, and what it took the first time is not known.
    newer: int | None
    missed: int | None  # of those that the repetition replayed
    digests: tuple[str, str]  # of the keys restored, each time


@dataclass(frozen=True, kw_only=True)
class Measurement(measurement.Measurement):
    partitions: tuple[int, ...]  # bottleneck first, then the rotated one
    clients: Mapping[int, ClientPartition]
    servers: tuple[LogicalServer, ...]
    switch: Mapping[int, SwitchPartition]
    unanswered: int  # when the drain ended
    in_flight_at_stop: int
    client_socket_drops: int
    client_threads: Punctuality
    each_second: tuple[Second, ...] = ()  # throughput of the window's seconds
    # Answers given by the switch, in the whole iteration; None: it gives none.
    switch_hits: int | None = None
    switch_updates: int | None = None  # value updates and fills that reached the switch
    cached_set: tuple[str, str] | None = None  # digests: of what should be cached, and of what is
    contradictions: tuple[str, ...] | None = None  # between counters of one client machine
    recovery: Recovery | None = None  # after the measurement
    # Complete ones from the clients' start on: their first and last instants, s after the start.
    snapshots: tuple[tuple[float, float], ...] | None = None
    copies_dropped: int | None = None  # by clients, for want of room; None: they kept none

    def rates(self, partition: int) -> Rates:
        client = self.clients[partition]
        return Rates(client.switch_ops / self.seconds, client.server_ops / self.seconds)

    @property
    def ops_per_s(self) -> float:
        return sum(self.rates(partition).total for partition in self.partitions)

    @property
    def busier(self) -> LogicalServer:
        return max(self.servers, key=lambda server: server.ops_per_s)

    @property
    def requests_total(self) -> int:
        return sum(client.requests_total for client in self.clients.values())

    def series(self) -> Mapping[str, Sequence[float]]:
        """Operations per second of both partitions, over the seconds of the window."""
        names = ("bottleneck partition", "rotated partition")
        return {
            name: [second.ops_per_s.get(partition, nan) for second in self.each_second]
            for name, partition in zip(names, self.partitions, strict=False)
        }
