"""A measurement in which everything is in order, of which tests change one thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import made_raw

from turntable.measurement import HostLoad, Punctuality
from turntable.systems.homa.measurement import Clients, Links, Measurement, Packets


def histogram(counts: Mapping[float, int], unit: float = 1000) -> str:
    return made_raw.histogram(counts, unit, most=100_000_000_000)


# p50 1.5, p99 3.
SLOWDOWNS = histogram({1.5: 980, 3: 19, 9: 1})
SECONDS = [{"offered": 2000, "answered": 2000}] * 10

CLIENTS = Clients(
    calls=20_000,
    answered=20_000,
    aborted=0,
    unanswered=0,
    waited=0,
    offered_bytes=35_000_000,
    answered_bytes=33_000_000,  # 94.3 %; the simulation delivers 95 %
    rtt_ns=((histogram({3000: 1000}),),) * 10,
    slowdown_1000=((SLOWDOWNS,),) * 10,
    begin_late=(histogram({50: 1000}),),
    idle_ns=({3: 2_150_000.0, 1_000_000: 871e6},) * 2,
    waiting_max=[0] * 10,
    per_second=SECONDS,
)
HEALTHY = Measurement(
    iteration=0,
    seconds=10.0,
    overhead_s=2.0,
    start_lateness_us=100.0,
    end_lateness_us=100.0,
    hosts=(HostLoad("client0", 0.0, 0),),
    switch_thread=Punctuality(200.0, 0.01),
    switch_drops={},
    clients=CLIENTS,
    own=CLIENTS,
    beside=None,
    packets=Packets(sent=200_000, sent_again=0, came_twice=0),
    echoed_bytes=(16_000_000, 17_000_000),
    socket_drops=0,
    tcp_socket_drops=0,
    queue_drops=0,
    links=Links(
        frames=200_000,
        late_mean_us=30.0,
        late_max_us=900.0,
        late_log2_ns=(0,) * 15 + (198_500, 0, 0, 0, 0, 1500),
        queued_max_bytes=80_000,
    ),
    nodes=Punctuality(100.0, 0.02),
)


def with_clients(**changes: Any) -> Measurement:
    changed = replace(CLIENTS, **changes)
    return replace(HEALTHY, clients=changed, own=changed)


def with_packets(**changes: Any) -> Measurement:
    return replace(HEALTHY, packets=replace(HEALTHY.packets, **changes))


def with_links(**changes: Any) -> Measurement:
    return replace(HEALTHY, links=replace(HEALTHY.links, **changes))
