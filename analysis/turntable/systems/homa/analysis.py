"""What Homa and the transports it is compared with give the analysis (turntable.system)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turntable.grid import Table
from turntable.raw import RawAnswer
from turntable.results import CellResult, Row, Run, Weighted
from turntable.system import Analysis, Facts
from turntable.systems.homa import shape, summary, tables
from turntable.systems.homa.measurement import Measurement
from turntable.systems.homa.raw import read_answers
from turntable.systems.homa.rules import MACHINE_RULES, RULES
from turntable.systems.homa.saturation import SATURATED
from turntable.verdict import Case
from turntable_core.plan import Iteration, Turn
from turntable_core.reference import Reference

if TYPE_CHECKING:
    from turntable.plot.drawing import Drawing

_HERE = Path(__file__).resolve().parent


class HomaAnalysis(Analysis):
    def read(
        self,
        answers: Sequence[RawAnswer],
        turn: Turn,
        iteration: Iteration,
        overhead_s: float | None,
    ) -> Measurement:
        return read_answers(answers, iteration.index, overhead_s, turn.cell.parameters)

    def histograms(self, measurements: Sequence[Measurement]) -> Weighted:
        """Round trips of all messages, on the testbed's clock."""
        return [
            (text, 1.0) for one in measurements for texts in one.clients.rtt_ns for text in texts
        ]

    rules = RULES
    machine_rules = MACHINE_RULES

    parameter_columns = summary.PARAMETERS
    result_columns = summary.COLUMNS
    means = summary.MEANS
    expected = summary.EXPECTED
    paper = summary.PAPER
    normalized = ("delivered_share", *summary.SLOWDOWNS)

    def values(self, case: Case, reference: Reference) -> Row:
        return summary.values(case, reference)

    round_columns = tables.ROUNDS
    cell_columns = tables.CELLS
    notes = (
        "p99 of slowdowns: a call's round trip over that of Homa's on the idle network, for its "
        "size. Payload is that of each client's requests; responses are as long, unless "
        "response_bytes says otherwise.",
        "The paper's value is that at 20 % of the messages. Saturated cells have no slowdowns. "
        "TCP's timers are not dilated.",
        "Load counts all bytes on the link, headers and grants too: at load 0.8 payload is 71 % of "
        "the link (W3, W4, W5), at the paper's 80 % it is 76 %.",
    )

    def further_tables(self, cells: Sequence[CellResult]) -> Sequence[Table]:
        return tables.further(cells)

    def facts(self, measurement: Measurement, parameters: Mapping[str, Any]) -> Facts:
        clients = measurement.clients
        share = clients.answered_bytes / max(clients.offered_bytes, 1)
        return [
            (1, f"{clients.calls / measurement.seconds:,.0f} calls/s"),
            (0, f"delivered {share:.1%}"),
        ]

    def result_facts(self, row: Row) -> Facts:
        if row["state"] is None:
            return []
        if row["state"] == SATURATED:
            return [(0, SATURATED)]
        known = [
            (0, row["p99_half"], "p99 slowdown of the smaller half {:.2f}"),
            (1, row["predicted_p99_half"], "predicted {:.2f}"),
        ]
        return [(rank, form.format(value)) for rank, value, form in known if value is not None]

    def series(self, measurement: Measurement) -> Mapping[str, Sequence[float]]:
        return {
            name: [second[name] for second in measurement.clients.per_second]
            for name in ("offered", "answered")
        }

    series_label = "calls per second"

    def figures(self, cells: Sequence[CellResult]) -> Mapping[str, Drawing | None]:
        from turntable.systems.homa.figure import slowdown_by_size  # noqa: PLC0415

        return {"slowdown_by_size": slowdown_by_size(cells)}

    partial = _HERE / "homa.html.j2"
    latency_table = False  # percentiles of all sizes together say little

    def report(self, run: Run) -> Mapping[str, Any]:
        return {
            "further": self.further_tables(run.cells),
            "shape": shape.findings(run.cells),
        }

    emulated_note = (
        "Links, and all times with them, are slower than the paper's by the dilation. Compare "
        "slowdowns with the\npaper's, never rates and round trips."
    )

    notebooks = _HERE.parents[2] / "notebooks" / "homa"
