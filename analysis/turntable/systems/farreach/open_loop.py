"""What an open loop measured in one iteration, over all client machines (docs/raw-format.md).

Latencies count from the instants at which requests were to be sent, whenever they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Stats = Mapping[str, Any]  # of one client machine


@dataclass(frozen=True)
class Latencies:
    """Of requests of one kind: exact sums, from which means are."""

    count: int = 0
    sum_ns: int = 0

    def __add__(self, other: Latencies) -> Latencies:
        return Latencies(self.count + other.count, self.sum_ns + other.sum_ns)

    @property
    def mean_us(self) -> float | None:
        return self.sum_ns / self.count / 1000 if self.count else None


@dataclass(frozen=True)
class OpenPartition:
    offered: int  # requests whose instant lies in the window
    server: Latencies  # of these, by who answered, in the drain too
    switch: Latencies
    # The same of requests sent one at a time, before the load.
    idle_server: Latencies
    idle_switch: Latencies
    idle_server_texts: tuple[str, ...]  # HdrHistograms
    # From the sending itself, whoever answered: their sum, and HdrHistogram texts.
    from_send_sum_ns: int
    from_send: tuple[str, ...]


@dataclass(frozen=True)
class OpenLoop:
    partitions: Mapping[int, OpenPartition]
    offered: int
    delivered: int  # first answers that came in the window
    lost: int  # of the window, never answered
    unsent: int  # of the window, withheld to the end by the limit of outstanding requests
    withheld: int  # of the window, sent late or never because of the limit
    # HdrHistogram texts of every machine.
    first_half: tuple[str, ...]  # latencies of the window's halves
    second_half: tuple[str, ...]
    send_late: tuple[str, ...]
    send_late_max_us: float

    @property
    def latencies(self) -> Latencies:
        parts = self.partitions.values()
        return sum((part.server + part.switch for part in parts), Latencies())


def read_open_loop(clients: Sequence[Stats]) -> OpenLoop | None:
    """clients: `stats` of every client machine. None: their loops were closed."""
    loops = [client["open_loop"] for client in clients if "open_loop" in client]
    if not loops:
        return None
    numbers = ("offered", "delivered", "lost", "unsent", "withheld")
    running = [row["partition"] for row in clients[0]["partitions"]]
    return OpenLoop(
        partitions={partition: _partition(clients, partition) for partition in running},
        **{name: sum(loop[name] for loop in loops) for name in numbers},
        first_half=tuple(loop["halves"][0] for loop in loops),
        second_half=tuple(loop["halves"][1] for loop in loops),
        send_late=tuple(loop["send_late_ns"] for loop in loops),
        send_late_max_us=max(loop["send_late_max_ns"] for loop in loops) / 1000,
    )


def _partition(clients: Sequence[Stats], partition: int) -> OpenPartition:
    window = _rows([client["partitions"] for client in clients], partition)
    rows = _rows([client["open_loop"]["partitions"] for client in clients], partition)

    def latencies(count: str, sum_ns: str, sums: Sequence[Stats]) -> Latencies:
        return Latencies(sum(row[count] for row in rows), sum(row[sum_ns] for row in sums))

    return OpenPartition(
        offered=sum(row["offered"] for row in rows),
        server=latencies("server_answered", "server_latency_sum_ns", window),
        switch=latencies("switch_answered", "switch_latency_sum_ns", window),
        idle_server=latencies("server_path_count", "server_path_sum_ns", rows),
        idle_switch=latencies("switch_path_count", "switch_path_sum_ns", rows),
        idle_server_texts=tuple(row["server_path_ns"] for row in rows),
        from_send_sum_ns=sum(row["from_send_sum_ns"] for row in rows),
        from_send=tuple(row["from_send_ns"] for row in rows),
    )


def _rows(tables: Sequence[Sequence[Stats]], partition: int) -> list[Stats]:
    return [row for table in tables for row in table if row["partition"] == partition]
