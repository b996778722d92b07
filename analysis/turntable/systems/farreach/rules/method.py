"""Did the method do what it promises: the right keys cached, nothing lost, snapshots taken?"""

from __future__ import annotations

from collections.abc import Iterator

from turntable.rules import without_data
from turntable.systems.farreach.measurement import Measurement
from turntable.verdict import Case, Finding
from turntable_systems.farreach.methods import crash_of, keeps_copies, snapshot_period_s


def cached_keys(case: Case) -> Finding:
    """Without admission the set of cached keys is the one that the prediction is about."""
    changed = [
        f"{measurement.iteration}"
        for measurement in case.measurements
        if measurement.cached_set and len(set(measurement.cached_set)) > 1
    ]
    if not changed or case.parameters.get("admission", False):
        return Finding()
    return Finding(f"the cached keys were not the hottest ones in iteration {', '.join(changed)}")


def recovered(case: Case) -> Finding:
    """Records that existed only in the killed switch are back at the servers, and the switch has
    its cache again.
    """
    if not crash_of(case.parameters):
        return Finding()
    wrong = [
        f"{measurement.iteration}: {text}"
        for measurement in case.measurements
        for text in _not_recovered(measurement, case.parameters["cache_size"])
    ]
    return Finding(f"not recovered after iteration {'; '.join(wrong)}" if wrong else None)


def _not_recovered(measurement: Measurement, cache_size: int) -> Iterator[str]:
    recovery = measurement.recovery
    if recovery is None:
        yield "there is no answer of `recover`"
        return
    if recovery.missed is None:
        yield "a server was asked twice, and does not know what it had left out"
    elif recovery.missed:
        yield f"{recovery.missed} records at clients were still newer than the servers'"
    if recovery.restored != cache_size:
        yield f"the switch got {recovery.restored} of {cache_size} keys"
    if measurement.cached_set and {*recovery.digests} != {measurement.cached_set[0]}:
        yield "the switch got other keys than it had"


def snapshots(case: Case) -> Finding:
    """Each window paid for at least one snapshot: a window without one flatters the method."""
    if not snapshot_period_s(case.parameters):
        return Finding()
    begin = case.parameters["warmup_s"]
    end = begin + case.parameters["measure_s"]
    without = [
        str(measurement.iteration)
        for measurement in case.measurements
        if not any(begin <= first and last <= end for first, last in measurement.snapshots or ())
    ]
    if not without:
        return Finding()
    return Finding(f"no complete snapshot in the window of iteration {', '.join(without)}")


def copies(case: Case) -> Finding:
    """A write that only the switch has is safe because its client keeps a copy of it."""
    dropped = [
        f"{measurement.copies_dropped} in iteration {measurement.iteration}"
        for measurement in case.measurements
        if measurement.copies_dropped
    ]
    lacking = sum(measurement.copies_dropped is None for measurement in case.measurements)
    not_checked = without_data(lacking, case) if keeps_copies(case.parameters) else None
    if not dropped:
        return Finding(not_checked=not_checked)
    return Finding(
        f"clients dropped copies for want of room ({', '.join(dropped)}): a crash of the switch "
        "would have lost those writes"
    )
