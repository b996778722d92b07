"""What one successful attempt measured, by partition; raw.py reads it.

None is what the raw files do not say: they are of an older version, or the method does not count
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import fmean

from turntable import measurement
from turntable.measurement import Punctuality
from turntable.systems.farreach.open_loop import OpenLoop
from turntable.systems.farreach.rotation import Rates
from turntable.systems.farreach.seconds import Second
from turntable.systems.farreach.ycsb import Said


@dataclass(frozen=True)
class ClientPartition:
    """Sums over all clients for one partition.

    `*_total` count the whole iteration, the others its measured window.
    """

    server_ops: int  # answered by a server
    switch_ops: int  # answered by the switch
    requests_total: int | None  # packets sent, retries included
    answers_total: int | None  # packets received, late ones included
    latency_sum_ns: int  # exact, of the window's operations
    # Latency in ns, HdrHistogram V2 text, of each client machine and kind of answer.
    histograms: tuple[str, ...]
    switch_histograms: tuple[str, ...] = ()  # of these, the ones of the switch's answers
    # Operations that these are of; None: those of the window. In open loops, the requests of the
    # window, whenever they were answered.
    latency_count: int | None = None

    @property
    def latencies(self) -> int:
        count = self.latency_count
        return self.server_ops + self.switch_ops if count is None else count


@dataclass(frozen=True)
class LogicalServer:
    partition: int
    ops_per_s: float  # in the measured window
    busy_share: float | None  # of the measured window
    socket_drops: int | None
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

    requests: int | None
    answers: int | None


@dataclass(frozen=True)
class Bucketed:
    """Latencies of one partition as imported files count them, in buckets of 1 µs."""

    sum_us: int
    count: int
    clamped: int  # of these, longer than the last bucket


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


@dataclass(frozen=True)
class ControlPlane:
    """Bytes of messages, from before the clients' start to after their end."""

    elapsed_s: float
    snapshots: tuple[int, ...]  # of each complete one, questions and answers
    until_s: float | None  # end of the last of these, after the clients' start
    case1_bytes: int  # reports of slots that changed during snapshots, of all of these
    admission_bytes: int
    eviction_bytes: int

    @property
    def other_bytes(self) -> int:
        return self.admission_bytes + self.eviction_bytes

    @property
    def snapshot_bytes(self) -> float | None:
        """Of one, mean."""
        if not self.snapshots:
            return None
        return (sum(self.snapshots) + self.case1_bytes) / len(self.snapshots)


@dataclass(frozen=True, kw_only=True)
class Measurement(measurement.Measurement):
    partitions: tuple[int, ...]  # bottleneck first, then the rotated one
    clients: Mapping[int, ClientPartition]
    servers: tuple[LogicalServer, ...]
    switch: Mapping[int, SwitchPartition]
    unanswered: int | None  # when the drain ended
    in_flight_at_stop: int | None
    client_socket_drops: int | None
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
    # Between the first client host that began a period of popularity and the last, the longest;
    # None: clients were not told of any.
    popularity_spread_s: float | None = None
    open_loop: OpenLoop | None = None  # None: loops were closed
    control_plane: ControlPlane | None = None
    # Processor time per operation; None: the kernel does not count it.
    switch_ns_per_op: float | None = None
    client_ns_per_op: float | None = None
    ycsb: Said | None = None  # what it says of itself, where it sent the requests
    # By partition; None: it was measured here.
    bucketed: Mapping[int, Bucketed] | None = None
    copies_dropped: int | None = None  # by clients, for want of room; None: they kept none

    @property
    def imported(self) -> bool:
        """From files of another program, which hold much less."""
        return self.bucketed is not None

    def rates(self, partition: int) -> Rates:
        client = self.clients[partition]
        return Rates(client.switch_ops / self.seconds, client.server_ops / self.seconds)

    @property
    def ops_per_s(self) -> float:
        return sum(self.rates(partition).total for partition in self.partitions)

    @property
    def busiest_ops_per_s(self) -> float:
        """Of the busier server; where popularity changes, of the one that was it in each second."""
        seconds = self.each_second
        if self.popularity_spread_s is None or not all(s.server_ops_per_s for s in seconds):
            return self.busier.ops_per_s
        return fmean(max(second.server_ops_per_s.values()) for second in seconds)

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
