"""What Swan's sensitivity profile gives the analysis (turntable.system)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from turntable.grid import Column, Table
from turntable.raw import RawAnswer
from turntable.results import CellResult, Row, Run, Weighted
from turntable.system import Analysis, Facts
from turntable.systems.swan import summary, tables
from turntable.systems.swan.measurement import Measurement
from turntable.systems.swan.peaks import peaks
from turntable.systems.swan.planning import planning_tables
from turntable.systems.swan.platform import jobs_of, platform_of
from turntable.systems.swan.probes import drifted, probe_tables
from turntable.systems.swan.profile import Profile, profile_of, sli_us
from turntable.systems.swan.raw import read_answers
from turntable.systems.swan.rendering import older_rule
from turntable.systems.swan.rules import MACHINE_RULES, RULES
from turntable.systems.swan.sample import sample_table
from turntable.verdict import Case
from turntable_core.plan import Iteration, Turn
from turntable_core.reference import Reference
from turntable_systems.swan.aggressors import BASELINE
from turntable_systems.swan.identity import experiment_uuid

if TYPE_CHECKING:
    from turntable.plot.drawing import Drawing

_HERE = Path(__file__).resolve().parent

# Of the platform, by the beginning of their names: what few will read.
_DETAILS = ("irq_affinity", "cgroup", "topology")
_CAPACITY = "load within the SLO"
_CELLS = (
    Column("", "peak/s", "peak_per_s", ",.0f", measured=True),
    Column("", "baseline (µs)", "baseline_sli_us", ",.0f", measured=True),
    Column(_CAPACITY, "baseline", "baseline_capacity", ".2f", measured=True),
    Column(_CAPACITY, "worst", "worst_capacity", ".2f", measured=True),
)


class SwanAnalysis(Analysis):
    def read(
        self,
        answers: Sequence[RawAnswer],
        turn: Turn,
        iteration: Iteration,
        overhead_s: float | None,
    ) -> Measurement:
        return read_answers(answers, iteration.index, iteration.data, overhead_s)

    def histograms(self, measurements: Sequence[Measurement]) -> Weighted:
        """Of the baseline, all loads together."""
        return [
            (text, 1.0)
            for one in measurements
            if one.place.aggressor == BASELINE
            for text in one.generator.latency_ns
        ]

    rules = RULES
    machine_rules = MACHINE_RULES

    parameter_columns = summary.PARAMETERS
    result_columns = summary.COLUMNS
    means = summary.MEANS
    normalized = summary.NORMALIZED

    def values(self, case: Case, reference: Reference) -> Row:
        return summary.values(case, reference)

    round_columns = (
        *_CELLS,
        Column("fields", "all", "fields", "d"),
        Column("fields", "over", "violations", "d"),
        Column("fields", "FAIL", "failed_loads", "d"),
        Column("", "left out", "left_out", "d"),
    )
    cell_columns = _CELLS
    notes = (tables.LEGEND,)

    def further_tables(self, cells: Sequence[CellResult]) -> Sequence[Table]:
        profiles = [profile_of(cell) for cell in cells]
        latencies = [table for one in profiles for table in tables.latency_tables(one)]
        return [*latencies, *planning_tables(profiles), *drifted(cells)]

    def facts(self, measurement: Measurement, parameters: Mapping[str, Any]) -> Facts:
        percent = parameters["percentile"]
        sli = sli_us(measurement, parameters)
        return [
            (0, f"p{percent:g} {sli:,.0f} µs" if sli else "no answer"),
            (1, f"achieved {measurement.achieved_share:.1%}"),
        ]

    def result_facts(self, row: Row) -> Facts:
        known = [
            (0, row["baseline_capacity"], "baseline holds the SLO up to {:.0%}"),
            (1, row["worst_capacity"], "the worst aggressor up to {:.0%}"),
        ]
        return [(rank, form.format(value)) for rank, value, form in known if value is not None]

    def series(self, measurement: Measurement) -> Mapping[str, Sequence[float]]:
        return {
            name: [second[name] for second in measurement.generator.per_second]
            for name in ("offered", "delivered")
        }

    series_label = "requests per second"
    latency_table = False  # of all loads together it says little

    def figures(self, cells: Sequence[CellResult]) -> Mapping[str, Drawing | None]:
        from turntable.systems.swan import plot  # noqa: PLC0415

        return {
            "sensitivity": plot.sensitivity_chart(cells),
            "beside_the_sample": plot.beside_the_sample(cells),
        }

    partial = _HERE / "swan.html.j2"

    def report(self, run: Run) -> Mapping[str, Any]:
        platform = platform_of(run.cells)
        return {
            "uuid": experiment_uuid(run.plan.experiment, run.name),
            "legend": tables.LEGEND,
            "profiles": [
                {"peaks": list(peaks(cell)), **_of_page(profile_of(cell))} for cell in run.cells
            ],
            "planning": planning_tables([profile_of(cell) for cell in run.cells]),
            "sample": sample_table(),
            "probes": probe_tables(run.cells),
            "platform": platform,
            "details": [name for name, _ in platform if name.startswith(_DETAILS)],
            "jobs": jobs_of(run.cells),
        }

    emulated_note = (
        "Hosts are namespaces of one machine: the generator has a processor of it. Compare rows of "
        "one profile, never rates with another machine's."
    )

    notebooks = _HERE.parents[2] / "notebooks" / "swan"
    # One does for all: it shows what there is.
    notebook_names: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("swan_isolation", "swan_capacity", "swan_core_allocation", "swan_cat"), "swan_sensitivity"
    )


def _of_page(profile: Profile) -> Mapping[str, tables.Coloured]:
    def latency(**kind: Any) -> tables.Coloured:
        older = kind.pop("older", False)
        look = tables.latency_look(profile, *([older_rule] if older else []), **kind)
        return tables.coloured(profile, tables.latency_title(profile, older, **kind), look)

    title = tables.achieved_title(profile)
    return {
        "latency": latency(),
        "absolute": latency(normalized=False),
        "older": latency(older=True),
        "achieved": tables.coloured(profile, title, tables.achieved_look),
    }
