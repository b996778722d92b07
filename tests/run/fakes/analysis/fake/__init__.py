"""Analysis of the system of fakes/: senders count what was answered, second by second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turntable import raw, rules
from turntable.grid import Column
from turntable.measurement import Measurement
from turntable.raw import RawAnswer
from turntable.results import Row, Weighted
from turntable.system import Analysis, Facts
from turntable.verdict import Case, Finding
from turntable_core.plan import Iteration, Turn
from turntable_core.reference import Reference


@dataclass(frozen=True, kw_only=True)
class Asked(Measurement):
    station: str
    asked: int
    answered: tuple[int, ...]  # of each second
    histograms: tuple[str, ...]

    @property
    def requests_total(self) -> int:
        return self.asked


def _busy(case: Case) -> Finding:
    idle = [m.station for m in case.measurements if not any(m.answered)]
    return Finding(f"nothing was asked at {', '.join(idle)}" if idle else None)


class FakeAnalysis(Analysis):
    rules = {"busy": _busy, **rules.COMMON}  # noqa: RUF012  (as the base class has it)

    parameter_columns = ("method", "load")
    result_columns = ("answered_per_s", "paper_answered")
    means = ("answered_per_s",)
    paper = {"paper_answered": "answered_per_s"}  # noqa: RUF012
    round_columns = (Column("answered", "1/s", "answered_per_s", ",.1f", measured=True),)
    cell_columns = round_columns

    def read(
        self,
        answers: Sequence[RawAnswer],
        turn: Turn,
        iteration: Iteration,
        overhead_s: float | None,
    ) -> Asked:
        stats = raw.results(answers, "sender", "stats")
        return Asked(
            iteration=iteration.index,
            seconds=stats[0]["window_ns"] / 1e9,
            overhead_s=overhead_s,
            errors=raw.errors("sender", stats, ["garbled"]),
            hosts=raw.hosts(answers),
            station=iteration.data["station"],
            asked=sum(one["asked"] for one in stats),
            answered=tuple(map(sum, zip(*(one["answered"] for one in stats), strict=True))),
            histograms=tuple(one["latency_ns"] for one in stats),
        )

    def histograms(self, measurements: Sequence[Asked]) -> Weighted:
        return [(text, 1.0) for measurement in measurements for text in measurement.histograms]

    def values(self, case: Case, reference: Reference) -> Row:
        rates = [sum(m.answered) / m.seconds for m in case.measurements]
        return {
            "answered_per_s": sum(rates) if case.complete else None,
            "paper_answered": reference.value("answered_per_s", case.parameters),
        }

    def series(self, measurement: Asked) -> Mapping[str, Sequence[float]]:
        return {"answered": measurement.answered}

    def facts(self, measurement: Asked, parameters: Mapping[str, Any]) -> Facts:
        return [(1, f"{sum(measurement.answered)} answered")]

    def result_facts(self, row: Row) -> Facts:
        rate = row["answered_per_s"]
        return [] if rate is None else [(0, f"{rate:g}/s")]


ANALYSIS = FakeAnalysis()
