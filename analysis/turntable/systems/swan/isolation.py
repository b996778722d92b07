"""What each isolation mechanism buys memcached, and what it costs the best-effort job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turntable.grid import Column, Table
from turntable.systems.swan.intervals import ratio
from turntable.systems.swan.mechanisms import NONE, groups
from turntable.systems.swan.profile import Field, Profile
from turntable.systems.swan.rendering import FAIL
from turntable.systems.swan.tables import NOT_RESOLVED
from turntable_systems.swan.aggressors import BASELINE

NO_FAIL = "no FAIL"  # any more


def isolation_tables(profiles: Sequence[Profile]) -> list[Table]:
    return [_table(group) for group in groups(profiles)]


def _table(group: Mapping[str, Profile]) -> Table:
    none = group[NONE]
    mechanisms = [name for name in group if name != NONE]
    columns = [
        Column("", "aggressor", "aggressor", ""),
        Column("", "load", "load", ".2f"),
        *(
            Column(name, head, f"{name} {head}", ">")
            for name in mechanisms
            for head in (none.percentile, "job")
        ),
    ]
    rows = [
        _row(none, {name: group[name] for name in mechanisms}, aggressor, index)
        for aggressor in none.aggressors
        if aggressor != BASELINE
        for index in none.indices
    ]
    title = (
        f"Isolation: memcached's {none.percentile} (geometric means) and the job's progress, "
        f"relative to those without\nisolation ({NOT_RESOLVED}: the interval of the ratio covers "
        "1, or too few repetitions count to have one)"
    )
    return Table(title, columns, rows)


def _row(
    none: Profile, others: Mapping[str, Profile], aggressor: str, index: int
) -> dict[str, Any]:
    before = none.fields[aggressor, index]
    row: dict[str, Any] = {"aggressor": aggressor, "load": none.loads[index]}
    for name, profile in others.items():
        after = profile.fields.get((aggressor, index))
        row[f"{name} {none.percentile}"] = latency_ratio(before, after)
        row[f"{name} job"] = progress_ratio(before, after)
    return row


def latency_ratio(before: Field, after: Field | None) -> str | None:
    """0.42; None where one of them has no latency."""
    if after is None or before.sli is None or after.sli is None:
        return None
    if after.fails:
        return FAIL
    if before.fails:  # of what was answered at all
        return NO_FAIL
    found = ratio(before.sli, after.sli)
    return f"{'' if found.is_clear else NOT_RESOLVED}{_text(found.value)}"


def progress_ratio(before: Field, after: Field | None) -> str | None:
    if after is None or after.progress_per_s is None or not before.progress_per_s:
        return None
    return _text(after.progress_per_s / before.progress_per_s)


def _text(share: float) -> str:
    """0.00 would say that nothing is left."""
    return "<0.01" if 0 < share < 0.005 else f"{share:.2f}"
