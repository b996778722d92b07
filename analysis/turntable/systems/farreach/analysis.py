"""What FarReach, NetCache and NoCache give the analysis (turntable.system)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turntable.grid import Table
from turntable.raw import RawAnswer
from turntable.results import CellResult, Row, Run, Weighted
from turntable.system import Analysis, Facts
from turntable.systems.farreach import lines, report, summary, tables
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.raw import read_answers
from turntable.systems.farreach.rules import RULES
from turntable.verdict import Case
from turntable_core.plan import Iteration, Plan, Turn
from turntable_core.reference import Reference
from turntable_systems.farreach.rotation import partitions_of

if TYPE_CHECKING:
    from turntable.plot.drawing import Drawing

_HERE = Path(__file__).resolve().parent


class FarReachAnalysis(Analysis):
    def read(
        self,
        answers: Sequence[RawAnswer],
        turn: Turn,
        iteration: Iteration,
        overhead_s: float | None,
    ) -> Measurement:
        return read_answers(answers, iteration.index, tuple(partitions_of(iteration)), overhead_s)

    def histograms(self, measurements: Sequence[Measurement]) -> Weighted:
        return [
            (text, weight)
            for client, weight in summary.weighted_partitions(measurements)
            for text in client.histograms
        ]

    rules = RULES

    columns = summary.COLUMNS
    parameter_columns = summary.PARAMETERS

    def values(self, case: Case, reference: Reference) -> Row:
        return summary.values(case, reference)

    means = (
        "aggregate_ops_per_s",
        "absolute_ops_per_s",
        "normalized_throughput",
        "imbalance_ratio",
        "latency_mean_us",
    )
    normalized = ("normalized_throughput", "imbalance_ratio")
    expected = summary.EXPECTED
    paper = {  # noqa: RUF012  (as the base class has it)
        "paper_normalized": "normalized_throughput",
        "paper_imbalance": "imbalance_ratio",
    }
    published = ("aggregate_ops_per_s", "server_replay_s", "switch_replay_s")

    def label(self, plan: Plan, parameters: Mapping[str, Any]) -> Sequence[str]:
        """workloada · nocache · 16 servers"""
        return parameters["workload"], parameters["method"], f"{parameters['servers']} servers"

    name_columns = tables.NAMES
    round_columns = tables.ROUNDS
    cell_columns = tables.CELLS
    notes = (
        "Latencies in summary.csv are those of a saturated closed loop: queueing, not service.",
    )

    def further_tables(self, cells: Sequence[CellResult]) -> Sequence[Table]:
        return tables.recoveries(cells)

    def facts(self, measurement: Measurement, parameters: Mapping[str, Any]) -> Facts:
        return lines.of_iteration(measurement, parameters)

    def result_facts(self, row: Row) -> Facts:
        return lines.of_turn(row)

    def series(self, measurement: Measurement) -> Mapping[str, Sequence[float]]:
        return measurement.series()

    series_label = "throughput (ops/s)"

    def figures(self, cells: Sequence[CellResult]) -> Mapping[str, Drawing | None]:
        from turntable.systems.farreach import plot  # noqa: PLC0415

        every = (plot.throughput, plot.scaling, plot.updates, plot.latency)
        return {figure.__name__: figure(cells) for figure in every}

    def cell_figures(self, cell: CellResult) -> Sequence[Drawing | None]:
        from turntable.systems.farreach import plot  # noqa: PLC0415

        return plot.partitions(cell), plot.iterations(cell)

    partial = _HERE / "farreach.html.j2"

    def report(self, run: Run) -> Mapping[str, Any]:
        return report.variables(run)

    emulated_note = (
        "Compare the ratios with the paper's. Absolute throughput (ops/s) follows from the "
        "capacity that\nthe experiment gives each logical server and is not comparable with a "
        "rack's."
    )

    notebooks = _HERE.parents[2] / "notebooks" / "farreach"
