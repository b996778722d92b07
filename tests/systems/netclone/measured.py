"""A measurement in which everything is in order, of which tests change one thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from made_raw import histogram

from turntable.measurement import HostLoad, Punctuality
from turntable.systems.netclone.measurement import (
    Clients,
    Coordinator,
    Measurement,
    Server,
    SwitchCounts,
)
from turntable_systems.netclone.prediction import Prediction

# Dilated by 100: p50 3,000 us are 30 us.
LATENCY = histogram({3_000: 950, 8_000: 49, 40_000: 1})
LATE = histogram({20: 1000})
SECONDS = ({"offered": 500, "delivered": 500}, {"offered": 500, "delivered": 500})

CLIENTS = Clients(
    offered=1000,
    delivered=1000,
    lost=0,
    withheld=0,
    clamped=0,
    redundant=0,
    cloned_answers=600,
    sent_total=1500,
    received_total=1500,
    socket_drops=0,
    latency=(LATENCY,),
    send_late=(LATE,),
    first_half=(LATENCY,),
    second_half=(LATENCY,),
    path_delay_us=120.0,
    credit_delay_us=None,
    per_second=SECONDS,
)
SERVER = Server(
    slots=8,
    received=800,
    longest_queue=0,
    clones_received=300,
    clones_dropped=30,
    answered=770,
    answers_empty=700,
    answers_empty_all_busy=70,
    busy_s=2.0,
    lost_s=0.0,
    planned_s=2.0,
    work_error_s=30e-6,
    work_error=histogram({30: 770}),
    received_total=1200,
    answered_total=1150,
    clones_dropped_total=50,
    socket_drops=0,
)
SWITCH = SwitchCounts(
    requests=1500,
    cloned=900,
    not_cloned={"first busy": 400, "second busy": 200},
    came_round=900,
    responses=2300,
    filtered=800,
    overwritten=0,
    unknown=0,
)
SIMULATED = Prediction(LATENCY, 0.6, 0.1, saturated=False)


def healthy() -> Measurement:
    return Measurement(
        iteration=0,
        seconds=2.0,
        start_lateness_us=100.0,
        end_lateness_us=100.0,
        hosts=(HostLoad("server0", steal_share=0.0, nic_drops=0),),
        switch_thread=Punctuality(100.0, 0.1),
        switch_drops={},
        clients=CLIENTS,
        servers=(SERVER, SERVER),
        switch=SWITCH,
        coordinator=None,
        replay=SIMULATED,
        client_threads=Punctuality(100.0, 0.1),
    )


def with_clients(**changes: Any) -> Measurement:
    return replace(healthy(), clients=replace(CLIENTS, **changes))


def with_server(**changes: Any) -> Measurement:
    """One of the two."""
    return replace(healthy(), servers=(SERVER, replace(SERVER, **changes)))


def with_switch(**changes: Any) -> Measurement:
    return replace(healthy(), switch=replace(SWITCH, **changes))


def plain() -> Measurement:
    """Nothing is cloned: the switch only forwards."""
    server = replace(
        SERVER, received=500, clones_received=0, clones_dropped=0, answered=500,
        received_total=750, answered_total=750, clones_dropped_total=0,
    )  # fmt: skip
    return replace(healthy(), switch=None, servers=(server, server))


def coordinated() -> Measurement:
    """By LAEDGE."""
    server = replace(SERVER, received_total=1000, answered_total=1000, clones_dropped_total=0)
    coordinator = Coordinator(
        requests=1500,
        cloned=500,
        queue_full=0,
        queue_length=0,
        forwarded=1500,
        redundant=500,
        socket_drops=0,
        wait_share=0.1,
    )
    return replace(healthy(), switch=None, servers=(server, server), coordinator=coordinator)


def with_coordinator(**changes: Any) -> Measurement:
    measurement = coordinated()
    return replace(measurement, coordinator=replace(measurement.coordinator, **changes))


def rows(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of cells, as far as the shape looks at them."""
    common = {
        "state": "steady",
        "distribution": "exp25",
        "servers": 4,
        "workers": 8,
        "unequal_workers": None,
        "jitter_probability": 0.01,
        "filter": None,
        "laedge_mode": None,
        "mean_us": 30.0,
        "clone_rate": None,
        "clones_dropped_share": None,
        "redundant_share": 0.0,
        "offered_rps": 1000.0,
        "delivered_rps": 1000.0,
    }
    return [common | dict(cell) for cell in cells]
