"""What pingpong gives the analysis (turntable.system)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from turntable import raw, rules
from turntable.grid import Column
from turntable.measurement import Measurement
from turntable.raw import RawAnswer
from turntable.results import Row, Weighted
from turntable.system import Analysis
from turntable.verdict import Case, Finding
from turntable_core.plan import Iteration, Turn
from turntable_core.reference import Reference


@dataclass(frozen=True, kw_only=True)
class PingPongMeasurement(Measurement):
    trips: int  # in the window
    by_second: Sequence[int]
    messages: int  # that the server got, of the whole iteration
    latency: str

    @property
    def requests_total(self) -> int:
        return self.messages


def _idle(case: Case) -> Finding:
    """A closed loop that stands still says nothing about round trips."""
    return rules.limit(
        case,
        "seconds without a round trip",
        lambda m: sum(trips == 0 for trips in m.by_second),
        case.bounds["idle_seconds_max"],
    )


class PingPongAnalysis(Analysis):
    rules = {  # noqa: RUF012
        "idle": _idle,
        "errors": rules.errors,
        "NIC drops": rules.nic_drops,
        "late start": rules.late_start(lambda case: case.bounds["start_late_us_max"]),
        "steal": rules.steal,
    }
    parameter_columns = ("connections",)
    result_columns = ("trips_per_s",)
    means = ("trips_per_s",)
    round_columns = (
        Column("", "round trips/s", "trips_per_s", ",.0f", measured=True),
        Column("latency (µs)", "p50", "latency_p50_us", ",.0f", measured=True),
        Column("latency (µs)", "p99", "latency_p99_us", ",.0f", measured=True),
    )
    cell_columns = round_columns[:1]
    series_label = "round trips/s"

    def read(
        self,
        answers: Sequence[RawAnswer],
        turn: Turn,
        iteration: Iteration,
        overhead_s: float | None,
    ) -> PingPongMeasurement:
        (client,) = raw.results(answers, "pingpong-client", "stats")
        (server,) = raw.results(answers, "pingpong-server", "stats")
        return PingPongMeasurement(
            iteration=iteration.index,
            seconds=client["window_ns"] / 1e9,
            overhead_s=overhead_s,
            errors=raw.errors("client", [client], ["errors"])
            | raw.errors("server", [server], ["errors"]),
            start_lateness_us=client["start_late_us"],
            hosts=raw.hosts(answers),
            trips=client["trips"],
            by_second=client["seconds"],
            messages=server["messages"],
            latency=client["latency_ns"],
        )

    def histograms(self, measurements: Sequence[PingPongMeasurement]) -> Weighted:
        return [(one.latency, 1.0) for one in measurements]

    def values(self, case: Case, reference: Reference) -> Row:
        if not case.complete:
            return {"trips_per_s": None}
        (one,) = case.measurements
        return {"trips_per_s": one.trips / one.seconds}

    def series(self, measurement: PingPongMeasurement) -> Mapping[str, Sequence[float]]:
        return {"round trips": measurement.by_second}
