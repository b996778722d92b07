"""What echo gives the analysis (turntable.system)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from turntable.grid import Column
from turntable.raw import RawAnswer
from turntable.results import CellResult, Row, Weighted
from turntable.system import Analysis, Facts
from turntable.systems.echo import measurement
from turntable.systems.echo.measurement import EchoMeasurement
from turntable.systems.echo.rules import RULES
from turntable.verdict import Case
from turntable_core.plan import Iteration, Turn
from turntable_core.reference import Reference

if TYPE_CHECKING:
    from turntable.plot.drawing import Drawing

RESULTS = ("offered_per_s", "delivered_per_s")


class EchoAnalysis(Analysis):
    rules = RULES
    parameter_columns = ("rate_per_s", "capacity_per_s")
    result_columns = RESULTS
    means = RESULTS

    round_columns = (
        Column("load (1/s)", "offered", "offered_per_s", ",.0f"),
        Column("load (1/s)", "delivered", "delivered_per_s", ",.0f"),
        Column("latency (µs)", "p50", "latency_p50_us", ",.0f", measured=True),
        Column("latency (µs)", "p99", "latency_p99_us", ",.0f", measured=True),
    )
    cell_columns = (Column("load (1/s)", "delivered", "delivered_per_s", ",.0f", measured=True),)
    notes = ("Latency is from the instant at which a request was to be sent.",)

    notebooks = Path(__file__).with_name("notebooks")

    def read(
        self,
        answers: Sequence[RawAnswer],
        turn: Turn,
        iteration: Iteration,
        overhead_s: float | None,
    ) -> EchoMeasurement:
        return measurement.read(answers, iteration, overhead_s)

    def histograms(self, measurements: Sequence[EchoMeasurement]) -> Weighted:
        return [(one.latency, 1.0) for one in measurements]

    def values(self, case: Case, reference: Reference) -> Row:
        if not case.complete:
            return dict.fromkeys(RESULTS)
        (load,) = case.measurements
        return {"offered_per_s": load.offered_per_s, "delivered_per_s": load.delivered_per_s}

    def facts(self, measurement: EchoMeasurement, parameters: Mapping[str, object]) -> Facts:
        return [(0, f"delivered {measurement.delivered / max(measurement.offered, 1):.1%}")]

    def result_facts(self, row: Row) -> Facts:
        return [(0, f"p99 {row['latency_p99_us']:,.0f} µs")] if row["latency_p99_us"] else []

    def series(self, measurement: EchoMeasurement) -> Mapping[str, Sequence[float]]:
        return {
            name: [s[name] for s in measurement.per_second] for name in ("offered", "delivered")
        }

    def figures(self, cells: Sequence[CellResult]) -> Mapping[str, Drawing | None]:
        # Here, since matplotlib takes half a second, which the phases of a run should not pay.
        from turntable.systems.echo.figure import latency_by_load  # noqa: PLC0415

        return {"latency_by_load": latency_by_load(cells)}
