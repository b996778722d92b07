"""What FarReach, NetCache and NoCache give the analysis (turntable.system)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turntable.grid import Table
from turntable.imported import Imported
from turntable.raw import RawAnswer
from turntable.results import CellResult, Row, Run, Weighted
from turntable.system import Analysis, Facts
from turntable.systems.farreach import (
    changes,
    lines,
    report,
    summary,
    tables,
    targets,
    trace_table,
    traffic,
    ycsb_table,
)
from turntable.systems.farreach.artifact import arithmetic, names
from turntable.systems.farreach.artifact import read as artifact
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.raw import read_answers
from turntable.systems.farreach.rules import OF_MACHINE, RULES
from turntable.verdict import Case
from turntable_core.plan import Iteration, Plan, Turn
from turntable_core.reference import Reference
from turntable_systems.farreach import popularity
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
        partitions = tuple(partitions_of(iteration))
        if artifact.is_imported(answers):
            return artifact.read_answers(answers, iteration.index, partitions, turn.cell.parameters)
        return read_answers(answers, iteration.index, partitions, overhead_s)

    def histograms(self, measurements: Sequence[Measurement]) -> Weighted:
        return [
            (text, weight)
            for client, weight in summary.weighted_partitions(measurements)
            for text in client.histograms
        ]

    rules = RULES
    machine_rules = OF_MACHINE

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
    published = (
        "aggregate_ops_per_s",
        "server_replay_s",
        "switch_replay_s",
        "bandwidth_mib_per_s",
        *(f"latency_{name}_us" for name in targets.PUBLISHED),
    )

    def label(self, plan: Plan, parameters: Mapping[str, Any]) -> Sequence[str]:
        """workloada · nocache · 16 servers"""
        return parameters["workload"], parameters["method"], f"{parameters['servers']} servers"

    name_columns = tables.NAMES
    round_columns = tables.ROUNDS
    cell_columns = tables.CELLS
    notes = (
        "Latencies of closed loops in summary.csv are queueing, not service: they are saturated.",
    )

    def further_tables(self, cells: Sequence[CellResult]) -> Sequence[Table]:
        return [
            *tables.gains(cells),
            *tables.recoveries(cells),
            *changes.tables(cells),
            *traffic.tables(cells),
            *ycsb_table.tables(cells),
            *trace_table.tables(cells),
            *targets.tables(cells),
            *arithmetic.tables(cells),
        ]

    def facts(self, measurement: Measurement, parameters: Mapping[str, Any]) -> Facts:
        return lines.of_iteration(measurement, parameters)

    def result_facts(self, row: Row) -> Facts:
        return lines.of_turn(row)

    def series(self, measurement: Measurement) -> Mapping[str, Sequence[float]]:
        return measurement.series()

    series_label = "throughput (ops/s)"

    def colour(self, parameters: Mapping[str, Any]) -> str | None:
        from turntable.systems.farreach.plot.methods import COLOURS  # noqa: PLC0415

        return COLOURS[parameters["method"]]

    def figures(self, cells: Sequence[CellResult]) -> Mapping[str, Drawing | None]:
        from turntable.systems.farreach import plot  # noqa: PLC0415

        every = (
            *(plot.throughput, plot.bars, plot.scaling, plot.updates, plot.dynamic),
            plot.bandwidth,
            plot.latency,
        )
        closed = targets.closed(cells)
        made = {figure.__name__: figure(closed) if closed else None for figure in every}
        return made | {"latency_by_target": plot.latency_by_target(cells)}

    def cell_figures(self, cell: CellResult) -> Sequence[Drawing | None]:
        from turntable.plot.seconds import seconds  # noqa: PLC0415
        from turntable.systems.farreach import plot  # noqa: PLC0415

        if not any(m.imported for turn in cell.turns for m in turn.measurements):
            return plot.partitions(cell), plot.iterations(cell)
        if popularity.is_played(cell.parameters):
            return plot.partitions(cell), seconds(cell, self.series, self.series_label)
        return plot.partitions(cell), plot.imported(cell)

    partial = _HERE / "farreach.html.j2"

    def report(self, run: Run) -> Mapping[str, Any]:
        return report.variables(run)

    emulated_note = (
        "Compare the ratios with the paper's. Absolute throughput (ops/s) follows from the "
        "capacity that\nthe experiment gives each logical server and is not comparable with a "
        "rack's."
    )

    def switch_resources(
        self,
        build: Path,
        sources: Path,
        results: Path | None,
        profile: str,
        run: str,
        p4c: Path | None,
    ) -> str:
        from turntable.systems.farreach import resources, resources_page  # noqa: PLC0415

        if results is None:
            return resources.table(resources.read_programs(build, sources))
        if p4c:
            resources.compile_programs(p4c, sources, build / "tofino")
        programs = resources.read_programs(build, sources)
        directory = results / resources.EXPERIMENT / run
        text = resources.write(directory, programs, profile)
        page = resources_page.write_page(directory, programs, profile)
        return f"{text}\nResults: {directory}\nReport: {page}"

    importable = names.EXPECTED

    def imports(self, directory: Path) -> Sequence[Imported]:
        from turntable.systems.farreach.artifact import imports  # noqa: PLC0415  (jsonschema)

        return imports.read_directory(directory)

    notebooks = _HERE.parents[2] / "notebooks" / "farreach"
    notebook_names = dict.fromkeys(
        (
            "farreach_exp03_scalability",
            "farreach_exp04_write_ratio",
            "farreach_exp05_key_distribution",
            "farreach_exp06_value_size",
        ),
        "methods_side_by_side",
    )
