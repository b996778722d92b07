"""What the system adds to a row of summary.csv: a round's profile in a few numbers.

A load of a round holds where it was reached and its percentile is within the SLO. Percentiles of a
round are those of its own iterations; the profile's table has the repetitions together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from turntable.results import Row
from turntable.systems.swan.measurement import Measurement
from turntable.systems.swan.profile import FAIL_BELOW, sli_us
from turntable.systems.swan.rules import reasons_of
from turntable.verdict import Case
from turntable_core.reference import Reference
from turntable_systems.swan.aggressors import BASELINE, PLACEBO

PARAMETERS = ("layout", "isolation", "slo_us", "percentile")
COLUMNS = (
    "peak_per_s",
    "baseline_sli_us",
    "baseline_capacity",
    "worst_capacity",
    "fields",
    "violations",
    "failed_loads",
    "left_out",
)
MEANS = ("peak_per_s", "baseline_sli_us", "baseline_capacity", "worst_capacity")
NORMALIZED = ("baseline_capacity", "worst_capacity")

ByLoad = Mapping[int, list[Measurement]]


def values(case: Case, reference: Reference) -> Row:
    counted = [m for m in case.measurements if not reasons_of(m, case)]
    row: Row = dict.fromkeys(COLUMNS)
    row["left_out"] = len(case.measurements) - len(counted)
    if not case.complete or not counted:
        return row
    by_row = _by_row(counted)
    baseline = by_row.get(BASELINE, {})
    capacities = {name: _capacity(loads, case) for name, loads in by_row.items()}
    aggressors = [
        share
        for name, share in capacities.items()
        if name not in (BASELINE, PLACEBO) and share is not None
    ]
    fields = [some for loads in by_row.values() for some in loads.values()]
    failed = sum(_fails(some) for some in fields)
    return row | {
        "peak_per_s": counted[0].generator.peak_per_s or case.parameters["peak_load"] or None,
        "baseline_sli_us": _sli(baseline[min(baseline)], case) if baseline else None,
        "baseline_capacity": capacities.get(BASELINE),
        "worst_capacity": min(aggressors, default=None),
        "fields": len(fields),
        "failed_loads": failed,
        "violations": sum(not _holds(some, case) for some in fields) - failed,
    }


def _by_row(measurements: Iterable[Measurement]) -> dict[str, dict[int, list[Measurement]]]:
    found: dict[str, dict[int, list[Measurement]]] = {}
    for one in measurements:
        by_load = found.setdefault(one.place.aggressor, {})
        by_load.setdefault(one.place.index, []).append(one)
    return found


def _capacity(loads: ByLoad, case: Case) -> float | None:
    """The largest share of the peak that holds the SLO, as all below it do; 0: none. A load of
    which nothing counts is not known to hold; None where that is the lowest.
    """
    best = 0.0 if 0 in loads else None
    index = 0
    while index in loads and _holds(loads[index], case):
        best = loads[index][0].place.load
        index += 1
    return best


def _holds(some: Sequence[Measurement], case: Case) -> bool:
    sli = _sli(some, case)
    return not _fails(some) and sli is not None and sli <= case.parameters["slo_us"]


def _fails(some: Sequence[Measurement]) -> bool:
    return fmean(one.achieved_share for one in some) < FAIL_BELOW


def _sli(some: Sequence[Measurement], case: Case) -> float | None:
    known = [sli_us(one, case.parameters) for one in some]
    return fmean(known) if None not in known else None
