"""What NetClone and the methods it is compared with give the analysis (turntable.system)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turntable.grid import Table
from turntable.raw import RawAnswer
from turntable.results import CellResult, Row, Run, Weighted
from turntable.system import Analysis, Facts
from turntable.systems.netclone import replayed, saturation, shape, summary, tables
from turntable.systems.netclone.measurement import Measurement
from turntable.systems.netclone.raw import read_answers
from turntable.systems.netclone.rules import MACHINE_RULES, RULES
from turntable.verdict import Case
from turntable_core.plan import Iteration, Turn
from turntable_core.reference import Reference

if TYPE_CHECKING:
    from turntable.plot.drawing import Drawing

_HERE = Path(__file__).resolve().parent


class NetCloneAnalysis(Analysis):
    def read(
        self,
        answers: Sequence[RawAnswer],
        turn: Turn,
        iteration: Iteration,
        overhead_s: float | None,
    ) -> Measurement:
        return read_answers(answers, iteration.index, turn.cell.parameters, overhead_s)

    def histograms(self, measurements: Sequence[Measurement]) -> Weighted:
        return [(text, 1.0) for one in measurements for text in one.clients.latency]

    rules = RULES
    machine_rules = MACHINE_RULES

    parameter_columns = summary.PARAMETERS
    result_columns = summary.COLUMNS
    means = summary.MEANS
    expected = summary.EXPECTED
    normalized = ("clone_rate", "clones_dropped_share", "redundant_share")

    def values(self, case: Case, reference: Reference) -> Row:
        return summary.values(case)

    round_columns = tables.ROUNDS
    cell_columns = tables.CELLS
    notes = (
        "Times and rates are undilated: those of servers that are as fast as the paper's.",
        "Saturated cells are valid; their latency says how long was measured, and is left out.",
    )

    def further_tables(self, cells: Sequence[CellResult]) -> Sequence[Table]:
        every = (
            *(tables.latency_table, tables.clone_table),
            *(tables.closed_form_table, tables.peak_table),
        )
        return [table for make in every for table in make(cells)]

    def facts(self, measurement: Measurement, parameters: Mapping[str, Any]) -> Facts:
        clients = measurement.clients
        rate = clients.delivered / measurement.seconds
        share = saturation.delivered_share(measurement)
        return [(1, f"{rate:,.0f} answers/s"), (0, f"delivered {share:.1%}")]

    def result_facts(self, row: Row) -> Facts:
        if row["state"] is None:
            return []
        known = [
            (0, row["shown_p99_us"], "p99 {:,.0f} µs"),
            (2, row["trace_p99_us"], "trace {:,.0f}"),
            (1, row["clone_rate"], "cloned {:.2f}"),
        ]
        state = [(0, row["state"])] if row["state"] == saturation.SATURATED else []
        texts = [(rank, form.format(value)) for rank, value, form in known if value is not None]
        return [*texts, *state]

    def series(self, measurement: Measurement) -> Mapping[str, Sequence[float]]:
        return {
            name: [second[name] for second in measurement.clients.per_second]
            for name in ("offered", "delivered")
        }

    series_label = "requests per second of the testbed's clock"

    def figures(self, cells: Sequence[CellResult]) -> Mapping[str, Drawing | None]:
        from turntable.systems.netclone import plot  # noqa: PLC0415

        every = (
            *(plot.p99_by_load, plot.paper_scale, plot.clones_by_load, plot.redundant_by_load),
            *(plot.idle_signal, plot.latency),
        )
        return {figure.__name__: figure(cells) for figure in every}

    partial = _HERE / "netclone.html.j2"
    latency_table = False  # the further ones have it, undilated

    def report(self, run: Run) -> Mapping[str, Any]:
        return {
            "further": self.further_tables(run.cells),
            "shape": shape.findings(shape.rows_of(run.cells)),
            "replayed": replayed.finding([t.row for cell in run.cells for t in cell.counted]),
            "deviations": replayed.table(run.cells),
        }

    emulated_note = (
        "Times are those of the testbed, divided by the dilation. Compare them with a simulation "
        "of the same\nservers and ratios with the paper's, never absolute rates."
    )

    notebooks = _HERE.parents[2] / "notebooks" / "netclone"
