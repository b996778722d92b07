"""Where popularity changes: did all clients change together, and did throughput do what the method
promises (FarReach, dynamic workloads)?
"""

from __future__ import annotations

from collections.abc import Iterator

from turntable.rules import NO_BOUND, limit
from turntable.systems.farreach import dynamic
from turntable.verdict import Case, Finding
from turntable_systems.farreach import popularity

# Of the throughput, by the traces: more than that must be seen, less than that must not.
_VISIBLE, _INVISIBLE = 0.10, 0.02


def together(case: Case) -> Finding:
    """All client hosts begin a period at one instant."""
    if not popularity.changes(case.parameters):
        return Finding()
    return limit(
        case,
        "client hosts began a period at instants so far apart (s)",
        lambda measurement: measurement.popularity_spread_s,
        case.bounds.get("change_spread_s_max"),
    )


def shape(case: Case) -> Finding:
    """A change that takes much from the switch makes throughput fall, and it returns soon; one that
    takes nothing leaves it as it is.
    """
    if not popularity.changes(case.parameters):
        return Finding()
    if not {"returned_within", "return_s_max", "dip_min"} <= case.bounds.keys():
        return Finding(not_checked=NO_BOUND)
    wrong = list(_wrong(case))
    more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return Finding(f"{wrong[0]}{more}" if wrong else None)


def _wrong(case: Case) -> Iterator[str]:
    within, longest = case.bounds["returned_within"], case.bounds["return_s_max"]
    least = case.bounds["dip_min"]
    for measurement in case.measurements:
        for change in dynamic.changes(measurement, case.prediction.popularity, within):
            where = f"change {change.period} at {change.at_s:.1f} s"
            if change.dip is None or change.predicted_dip is None:
                yield f"{where}: no second shows it"
            elif change.predicted_dip <= _INVISIBLE and change.dip > within:
                yield (
                    f"{where}: throughput fell by {change.dip:.1%}, although the switch keeps all "
                    f"but {max(0.0, change.predicted_dip):.1%} (expected at most {within:.0%})"
                )
            elif change.predicted_dip >= _VISIBLE and change.dip < least:
                yield (
                    f"{where}: throughput fell by {change.dip:.1%} only, although the first moment "
                    f"costs {change.predicted_dip:.1%} (expected at least {least:.0%})"
                )
            elif change.return_s is None or change.return_s > longest:
                after = "did not return" if change.return_s is None else f"took {change.return_s} s"
                yield (
                    f"{where}: throughput {after} to within {within:.0%} of before (expected at "
                    f"most {longest:g} s)"
                )
