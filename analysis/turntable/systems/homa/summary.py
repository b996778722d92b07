"""What the system adds to a row of summary.csv. Slowdowns have no unit; rates are those of the
testbed, times are divided by the dilation where a name says `true`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable.histograms import merge
from turntable.results import Row
from turntable.systems.homa.measurement import TENTHS, Clients, Measurement
from turntable.systems.homa.saturation import STEADY, state_of
from turntable.systems.homa.slowdowns import HALF, merged, percentiles
from turntable.verdict import Case
from turntable_core.reference import Reference
from turntable_systems.homa import links, methods
from turntable_systems.homa.prediction import Prediction

PARAMETERS = ("method", "sizes", "load", "link_mbps", "clients")
# Further ones; some say nothing about some cells.
_PECULIAR = (
    *("beside", "message_bytes", "cap_bytes", "divide", "arrivals", "outstanding", "fan_out"),
    *(
        "response_bytes",
        "payload_bytes",
        "path_delay_ms",
        "priorities",
        "connections",
        "at_most_once",
        "tick_ms",
    ),
)
# Percent of the messages at which the paper's tables have values.
PUBLISHED_AT = (5, 20, 50, 80, 95)
# Of these, the ones that stand beside the p99 of a tenth, and that tenth. The value at 95 % does
# not: messages of the last tenth differ by orders of magnitude, and its p99 is the largest ones'.
BESIDE_TENTHS = {5: 1, 20: 2, 50: 5, 80: 8}
PAPER = {f"paper_p99_at_{at}": f"p99_slowdown_at_{at}" for at in PUBLISHED_AT}

OF_TENTHS = tuple(f"p99_tenth_{tenth}" for tenth in range(1, TENTHS + 1))
SLOWDOWNS = ("p50_half", "p99_half", *OF_TENTHS)
BESIDE = ("beside_delivered_share", "beside_p50_half", "beside_p99_half", "beside_p99_tenth_10")
EXPECTED = tuple(f"predicted_{name}" for name in (*SLOWDOWNS, "delivered_share"))
_DERIVED = ("dilation", "rtt_bytes", "unscheduled_levels", "cutoffs", "degree", "mean_bytes")
_COUNTS = (
    *("calls", "waited", "aborted", "sent_again", "came_twice", "queue_drops"),
    *("socket_drops", "tcp_socket_drops"),
)
COLUMNS = (
    "state",
    "offered_mbps",
    "delivered_mbps",
    "delivered_share",
    *SLOWDOWNS,
    "true_rtt_p99_smallest_us",
    *BESIDE,
    *EXPECTED,
    *PAPER,
    *_PECULIAR,
    *_DERIVED,
    *_COUNTS,
    "queued_max_bytes",
    "link_late_mean_us",
)
MEANS = ("offered_mbps", "delivered_mbps", "delivered_share", *SLOWDOWNS, *BESIDE)


def values(case: Case, reference: Reference) -> Row:
    parameters, prediction = case.parameters, case.prediction
    return {
        **dict.fromkeys(COLUMNS),
        **_predicted(prediction),
        **{column: reference.value(metric, parameters) for column, metric in PAPER.items()},
        **{name: parameters.get(name) for name in _PECULIAR},
        "dilation": links.dilation(parameters),
        **({} if methods.is_tcp(parameters) else _derived(prediction)),
        "mean_bytes": prediction.mean_bytes,
        **(_measured(case) if case.complete else {}),
    }


def _derived(prediction: Prediction) -> Row:
    return {
        "rtt_bytes": prediction.rtt_bytes,
        "unscheduled_levels": prediction.unscheduled_levels,
        "cutoffs": "+".join(map(str, prediction.cutoffs)),
        "degree": prediction.degree,
    }


def _measured(case: Case) -> Row:
    (measurement,) = case.measurements
    clients, packets, late = measurement.clients, measurement.packets, measurement.links
    state = state_of(case)
    per_client_mbps = 8e-6 / measurement.seconds / case.parameters["clients"]
    return {
        "state": state,
        "offered_mbps": clients.offered_bytes * per_client_mbps,
        "delivered_mbps": clients.answered_bytes * per_client_mbps,
        "delivered_share": clients.answered_bytes / max(clients.offered_bytes, 1),
        **(_slowdowns(measurement, case.parameters) if state == STEADY else {}),
        **(_beside(measurement.beside, state) if measurement.beside else {}),
        "calls": clients.calls,
        "waited": clients.waited,
        "aborted": clients.aborted,
        "sent_again": packets.sent_again,
        "came_twice": packets.came_twice,
        "queue_drops": measurement.queue_drops,
        "socket_drops": measurement.socket_drops,
        "tcp_socket_drops": measurement.tcp_socket_drops,
        "queued_max_bytes": None if late is None else late.queued_max_bytes,
        "link_late_mean_us": None if late is None else late.late_mean_us,
    }


def _slowdowns(measurement: Measurement, parameters: Mapping[str, Any]) -> Row:
    clients = measurement.own
    smallest_us = merge((text, 1.0) for text in clients.rtt_ns[0]).percentile(99)
    true_us = None if smallest_us is None else smallest_us / links.dilation(parameters)
    return {**_named(clients.slowdown_1000), "true_rtt_p99_smallest_us": true_us}


def _beside(clients: Clients, state: str | None) -> Row:
    row: Row = {"beside_delivered_share": clients.answered_bytes / max(clients.offered_bytes, 1)}
    if state == STEADY:
        found = _named(clients.slowdown_1000)
        row |= {f"beside_{name}": found[name] for name in ("p50_half", "p99_half", "p99_tenth_10")}
    return row


def _named(of_tenths: tuple[tuple[str, ...], ...]) -> Row:
    half = merged(of_tenths[:HALF])
    return {
        "p50_half": half.percentile(50),
        "p99_half": half.percentile(99),
        **dict(zip(OF_TENTHS, percentiles(of_tenths, 99), strict=True)),
    }


def _predicted(prediction: Prediction) -> Row:
    found: Row = {"delivered_share": prediction.delivered_share}
    if prediction.slowdown_1000:
        found |= _named(tuple((text,) for text in prediction.slowdown_1000))
    return {f"predicted_{name}": value for name, value in found.items()}
