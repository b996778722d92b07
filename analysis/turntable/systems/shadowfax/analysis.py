"""What Shadowfax gives the analysis (turntable.system)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from turntable.raw import RawAnswer
from turntable.results import CellResult, Row, Weighted
from turntable.system import Analysis, Facts
from turntable.systems.shadowfax import summary, tables
from turntable.systems.shadowfax.measurement import Measurement
from turntable.systems.shadowfax.raw import read_answers
from turntable.systems.shadowfax.rules import MACHINE_RULES, RULES
from turntable.verdict import Case
from turntable_core.plan import Iteration, Turn
from turntable_core.reference import Reference

if TYPE_CHECKING:
    from turntable.plot.drawing import Drawing

_ROUNDING = 1e-3  # seconds: a window is never a whole number of them
_NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"


class ShadowfaxAnalysis(Analysis):
    def read(
        self,
        answers: Sequence[RawAnswer],
        turn: Turn,
        iteration: Iteration,
        overhead_s: float | None,
    ) -> Measurement:
        return read_answers(answers, iteration.index, overhead_s)

    def histograms(self, measurements: Sequence[Measurement]) -> Weighted:
        """Of open loops: a full pipeline has round trips, and no latency."""
        return [(text, 1.0) for one in measurements for text in one.clients.latency_ns]

    rules = RULES
    machine_rules = MACHINE_RULES

    parameter_columns = summary.PARAMETERS
    result_columns = summary.COLUMNS
    means = summary.MEANS
    normalized = summary.NORMALIZED
    paper: ClassVar[Mapping[str, str]] = {
        "paper_ops_per_s": "aggregate_ops_per_s",
        "paper_fill_ops_per_s": "fill_ops_per_s",
        "paper_round_trip_p50_us": "round_trip_p50_us",
    }

    def values(self, case: Case, reference: Reference) -> Row:
        return summary.values(case)

    round_columns = tables.ROUNDS
    cell_columns = tables.CELLS
    notes = tables.NOTES

    def facts(self, measurement: Measurement, parameters: Mapping[str, Any]) -> Facts:
        mean_us = measurement.clients.round_trip_mean_us
        rate = [(0, f"{measurement.ops_per_s / 1e6:.3g} Mops/s")]
        return [*rate, *([(1, f"round trip {mean_us:,.0f} µs")] if mean_us else [])]

    def result_facts(self, row: Row) -> Facts:
        known = [
            (0, row["aggregate_ops_per_s"], 1e6, "{:.3g} Mops/s"),
            (1, row["round_trip_mean_us"], 1, "round trip {:,.0f} µs"),
            (2, row["pending_share"] or None, 1, "pending {:.1%}"),
        ]
        return [(rank, form.format(value / unit)) for rank, value, unit, form in known if value]

    def series(self, measurement: Measurement) -> Mapping[str, Sequence[float]]:
        samples = measurement.clients.samples
        return {
            "operations": _per_second(samples.operations, samples.seconds, measurement.seconds),
            "pending": _per_second(samples.pending, samples.seconds, measurement.seconds),
        }

    series_label = "operations per second"

    def figures(self, cells: Sequence[CellResult]) -> Mapping[str, Drawing | None]:
        from turntable.plot.latency import latency  # noqa: PLC0415
        from turntable.systems.shadowfax import plot  # noqa: PLC0415

        return {
            "beside": plot.beside(cells),
            "by_batch": plot.by_batch(cells),
            "by_threads": plot.by_threads(cells),
            "fill": plot.fill(cells),
            "by_memory": plot.by_memory(cells),
            "migration": plot.migration(cells),
            "by_value_size": plot.by_value_size(cells),
            "by_load": plot.by_load(cells),
            "latency": latency(cells),
        }

    emulated_note = (
        "Hosts are namespaces of one machine: servers and clients share its processors. Compare "
        "cells of one run, never rates with another machine's."
    )

    notebooks = _NOTEBOOKS / "shadowfax"
    # One does for all: it shows what there is.
    notebook_names: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (
            *("shadowfax_pipeline", "shadowfax_distribution", "shadowfax_memory"),
            *("shadowfax_threads", "shadowfax_fill"),
            *("shadowfax_scale_out", "shadowfax_value_size", "shadowfax_latency"),
            *("shadowfax_sampling", "shadowfax_indirection", "shadowfax_view_check"),
            "shadowfax_beside",
        ),
        "shadowfax_batch_size",
    )


def _per_second(counts: Sequence[int], interval_s: float, window_s: float) -> list[float]:
    """Of every whole second, of samples that may be of any length: where a second ends within one,
    its count is divided as its time is. Of less than a second the rate. The window may end within
    the last sample, which then is as short.
    """
    if not counts:
        return []
    length_s = min(len(counts) * interval_s, window_s)
    ends_s = [min(index * interval_s, length_s) for index in range(len(counts) + 1)]
    seconds = int(length_s + _ROUNDING)
    if not seconds:
        return [sum(counts) / length_s]
    until = np.interp(range(seconds + 1), ends_s, [0, *accumulate(counts)])
    return [float(count) for count in np.diff(until)]
