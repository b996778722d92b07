"""What one successful attempt measured, whatever the layout of its raw files (turntable.load reads
those).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from turntable.rotation import Rates


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
    histograms: tuple[
        str, ...
    ]  # latency in ns, HdrHistogram V2 text, of each client machine and kind of answer


@dataclass(frozen=True)
class LogicalServer:
    partition: int
    ops_per_s: float  # in the measured window
    busy_share: float  # of the measured window
    socket_drops: int


@dataclass(frozen=True)
class SwitchPartition:
    """Packets of the whole iteration."""

    requests: int
    answers: int


@dataclass(frozen=True)
class Measurement:
    iteration: int
    partitions: tuple[int, ...]  # bottleneck first, then the rotated one
    seconds: float  # length of the window: mean of the client machines
    clients: Mapping[int, ClientPartition]
    servers: tuple[LogicalServer, ...]
    switch: Mapping[int, SwitchPartition]
    retries: int
    in_flight_at_stop: int
    client_socket_drops: int
    start_lateness_us: float  # of the latest client
    errors: Mapping[str, int]  # what must not happen at all, by name, where it did
    overhead_s: float | None

    def rates(self, partition: int) -> Rates:
        client = self.clients[partition]
        return Rates(client.switch_ops / self.seconds, client.server_ops / self.seconds)

    @property
    def ops_per_s(self) -> float:
        return sum(self.rates(partition).total for partition in self.partitions)

    @property
    def busier(self) -> LogicalServer:
        return max(self.servers, key=lambda server: server.ops_per_s)
