"""What one successful attempt measured; raw.py reads it.

Times are those of the testbed's clock: dilated. Counts ending in `_total` are of the whole
iteration, the others of its measured window. None is what the raw files do not say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from turntable import measurement
from turntable.measurement import Punctuality
from turntable_systems.netclone.prediction import Prediction

Texts = tuple[str, ...]  # HdrHistogram V2, ns, of each client host


@dataclass(frozen=True, kw_only=True)
class Clients:
    """All client hosts together."""

    offered: int  # requests whose instant lies in the window
    delivered: int  # first answers that came in the window
    lost: int  # of the offered, those without any answer when the drain had ended
    withheld: int  # of the offered, those that waited for outstanding_max
    clamped: int  # latencies longer than histograms know
    redundant: int  # answers to the offered ones beyond the first
    cloned_answers: int  # first answers that come from one of two copies
    sent_total: int  # packets
    received_total: int
    socket_drops: int
    latency: Texts  # from the intended instant
    send_late: Texts
    first_half: Texts  # of latency: requests of the window's first half ...
    second_half: Texts
    path_delay_us: float | None  # a round trip without queue and service
    credit_delay_us: float | None  # of LAEDGE: for how much longer than the work credits were taken
    per_second: Sequence[Mapping[str, float]]


@dataclass(frozen=True, kw_only=True)
class Server:
    slots: int
    received: int
    longest_queue: int  # that a request found
    clones_received: int
    clones_dropped: int
    answered: int
    answers_empty: int  # that report an empty queue ...
    answers_empty_all_busy: int  # ... while every slot was busy
    busy_s: float  # of all slots
    lost_s: (
        float  # time of slots that nobody could use, since the server was too late to start work
    )
    planned_s: float  # work that was drawn for what they did
    work_error: str  # HdrHistogram V2, ns: of each piece of work
    work_error_s: float  # mean distance of the time a slot was held from what was drawn
    received_total: int
    answered_total: int
    clones_dropped_total: int
    socket_drops: int


@dataclass(frozen=True, kw_only=True)
class SwitchCounts:
    """Packets of the whole iteration."""

    requests: int
    cloned: int
    not_cloned: Mapping[str, int]  # by reason
    came_round: int  # clones on their way to the second server
    responses: int
    filtered: int  # slower answers that were dropped
    overwritten: int  # slots of the filter with another request's fingerprint
    unknown: int


@dataclass(frozen=True, kw_only=True)
class Coordinator:
    """LAEDGE's; of the whole iteration."""

    requests: int
    cloned: int
    queue_full: int  # dropped
    queue_length: int  # at the end
    forwarded: int  # first answers
    redundant: int
    socket_drops: int
    wait_share: float | None  # of the window: it could run, but others had the processors


@dataclass(frozen=True, kw_only=True)
class Measurement(measurement.Measurement):
    clients: Clients
    servers: tuple[Server, ...]
    switch: SwitchCounts | None  # None: it only forwarded
    coordinator: Coordinator | None
    replay: Prediction | None  # of the iteration's own draws
    client_threads: Punctuality

    @property
    def requests_total(self) -> int:
        return self.clients.sent_total
