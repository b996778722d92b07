"""The nodes' raw statistics (comments of client_main.cc and server_main.cc) -> Measurement.

The only place that knows their fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from turntable import raw
from turntable.measurement import Measurement
from turntable.raw import RawAnswer
from turntable_core.plan import Iteration

_CLIENT_ERRORS = ("malformed", "send_errors", "receive_errors")
_SERVER_ERRORS = ("malformed", "send_errors")


@dataclass(frozen=True, kw_only=True)
class EchoMeasurement(Measurement):
    offered: int  # requests whose instant lies in the window
    delivered: int  # answers that came in the window
    requests: int  # of the whole iteration
    unanswered: int
    socket_drops: int
    latency: str  # from the intended instant; HdrHistogram V2 text, ns
    send_late_max_us: float
    wait_share: float | None
    per_second: Sequence[Mapping[str, float]]

    @property
    def requests_total(self) -> int:
        return self.requests

    @property
    def offered_per_s(self) -> float:
        return self.offered / self.seconds

    @property
    def delivered_per_s(self) -> float:
        return self.delivered / self.seconds


def read(
    answers: Sequence[RawAnswer], iteration: Iteration, overhead_s: float | None
) -> EchoMeasurement:
    (client,) = raw.results(answers, "echo-client", "stats")
    (server,) = raw.results(answers, "echo-server", "stats")
    wait_ns = client["wait_ns"]
    return EchoMeasurement(
        iteration=iteration.index,
        seconds=client["window_ns"] / 1e9,
        overhead_s=overhead_s,
        errors=raw.errors("client", [client], _CLIENT_ERRORS)
        | raw.errors("server", [server], _SERVER_ERRORS),
        start_lateness_us=client["start_late_us"],
        hosts=raw.hosts(answers),
        offered=client["offered"],
        delivered=client["delivered"],
        requests=client["requests_total"],
        unanswered=client["unanswered"],
        socket_drops=client["socket_drops"] + server["socket_drops"],
        latency=client["latency_ns"],
        send_late_max_us=client["send_late_max_us"],
        wait_share=None if wait_ns is None else wait_ns / client["window_ns"],
        per_second=client["seconds"],
    )
