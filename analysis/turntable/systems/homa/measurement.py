"""What one successful attempt measured; raw.py reads it.

Times are those of the testbed's clock: dilated. Counts ending in `_total` are of the whole
iteration, the others of its measured window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from turntable import measurement
from turntable.measurement import Punctuality

TENTHS = 10

Texts = tuple[str, ...]  # HdrHistogram V2


@dataclass(frozen=True, kw_only=True)
class Clients:
    """Some or all of them together."""

    calls: int  # that arrived in the window
    answered: int  # of these
    aborted: int
    unanswered: int  # when the drain had ended
    waited: int  # as too many of their client's were under way
    offered_bytes: int
    answered_bytes: int  # of calls whose answers came in the window
    rtt_ns: tuple[Texts, ...]  # of each tenth of the messages by size, smallest first
    slowdown_1000: tuple[Texts, ...]  # the same, in thousandths of the idle network's round trip
    begin_late: Texts  # ns: calls that the client itself began late
    idle_ns: tuple[Mapping[int, float], ...]  # by client: round trips on the idle network
    waiting_max: Sequence[int]  # calls without a place, second by second
    per_second: Sequence[Mapping[str, float]]

    def rtt_of_hundredths(self) -> list[Texts]:
        return _hundredths(self.rtt_ns)

    def slowdown_of_hundredths(self) -> list[Texts]:
        return _hundredths(self.slowdown_1000)


def _hundredths(of_tenths: tuple[Texts, ...]) -> list[Texts]:
    """Of the messages: a tenth has ten histograms of one client, ten of the next."""
    return [texts[index::TENTHS] for texts in of_tenths for index in range(TENTHS)]


@dataclass(frozen=True, kw_only=True)
class Packets:
    """Of all nodes, in the whole iteration."""

    sent: int  # of TCP messages: nobody tells of its packets
    sent_again: int
    came_twice: int  # not known of TCP's, which are not in it


@dataclass(frozen=True, kw_only=True)
class Links:
    """Of the switch's ports, in the whole iteration."""

    frames: int
    late_mean_us: float
    late_max_us: float
    late_log2_ns: tuple[int, ...]  # frames that were not late; then from 2^(n-1) to 2^n - 1 ns
    queued_max_bytes: int  # in one queue


@dataclass(frozen=True, kw_only=True)
class Measurement(measurement.Measurement):
    clients: Clients  # all
    own: Clients  # those of the cell's method: all, unless it is mixed
    beside: Clients | None  # those of the method beside, if there is one
    packets: Packets
    echoed_bytes: tuple[int, ...]  # since the load began, by each server host
    socket_drops: int  # of Homa's and Basic's
    tcp_socket_drops: int
    queue_drops: int | None  # of the switch's queues; None: nobody asks a vendor's switch
    links: Links | None  # None: the switch's ports are links
    nodes: Punctuality  # threads of clients and servers

    @property
    def requests_total(self) -> int:
        return self.packets.sent
