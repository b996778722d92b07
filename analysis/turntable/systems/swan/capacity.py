"""What a planner of capacity asks: how much load may memcached have beside each aggressor, and what
does the aggressor get done there?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turntable.grid import Column, Table
from turntable.systems.swan.mechanisms import NONE, groups, name_of
from turntable.systems.swan.profile import Field, Profile
from turntable.systems.swan.rendering import GREEN, final_rule
from turntable.systems.swan.tables import BROKEN_ONCE

_HELD = "highest load within the SLO"
_JOB = "the job there"
_OR_MORE = "+"
_COLUMNS = (
    Column("", "aggressor", "aggressor", ""),
    Column("", "isolation", "mechanism", ""),
    Column(_HELD, "share of peak", "load", ">"),
    Column(_HELD, "requests/s", "rate", ",.0f"),
    Column(_JOB, "per second", "progress", ",.1f"),
    Column(_JOB, "of", "unit", ""),
    Column(_JOB, "share", "share", ".2f"),
)


@dataclass(frozen=True)
class Capacity:
    field: Field | None  # the highest load such that it and all below hold; None: not the lowest
    may_be_more: bool = False  # nothing counts at the next one
    is_broken_once: bool = False  # there or below the mean holds, and not every repetition does

    @property
    def load(self) -> float:
        return self.field.load if self.field else 0.0

    @property
    def rate_per_s(self) -> float:
        return (self.field.target_per_s or 0.0) if self.field else 0.0


def capacity(profile: Profile, aggressor: str) -> Capacity | None:
    """None where the lowest load has no result."""
    row = profile.row(aggressor)
    if row[0].sli is None and not row[0].fails:
        return None
    best, broken = None, False
    for field in row:
        if not holds(profile, field):
            return Capacity(best, field.sli is None and not field.fails, broken)
        best, broken = field, broken or profile.is_broken_once(field)
    return Capacity(best, is_broken_once=broken)


def holds(profile: Profile, field: Field) -> bool:
    """Whether Swan's final rule has it green: the mean of its repetitions."""
    look = final_rule(field.sli_us, profile.slo_us, field.achieved_share)
    return look.background == GREEN


def capacity_tables(profiles: Sequence[Profile]) -> list[Table]:
    """One for all that differ in their mechanism alone; those of others have their own."""
    together = groups(profiles)
    grouped = {id(profile) for group in together for profile in group.values()}
    alone = [{name_of(one.parameters): one} for one in profiles if id(one) not in grouped]
    tables = [_table(group) for group in (*together, *alone)]
    return [table for table in tables if table.rows]


def _table(group: Mapping[str, Profile]) -> Table:
    first = next(iter(group.values()))
    rows = [
        row
        for aggressor in first.aggressors
        for name, profile in group.items()
        if aggressor in profile.aggressors
        and (row := _row(profile, name, aggressor, group.get(NONE, profile)))
    ]
    title = (
        f"Capacity: {first.percentile} within {first.slo_us:,.0f} µs at this load and all below. "
        f"{_OR_MORE}: nothing counts at the next\nload. {BROKEN_ONCE}: the means hold, and not "
        "every repetition does. Share: of the job's progress without\nisolation beside the lowest "
        "load"
    )
    return Table(title, _COLUMNS, rows)


def _row(profile: Profile, name: str, aggressor: str, none: Profile) -> dict[str, Any] | None:
    found = capacity(profile, aggressor)
    if found is None:
        return None
    progress = found.field.progress_per_s if found.field else None
    alone = none.fields[aggressor, 0].progress_per_s if aggressor in none.aggressors else None
    return {
        "aggressor": aggressor,
        "mechanism": name,
        "load": _load(found),
        "rate": found.rate_per_s,
        "progress": progress,
        "unit": found.field.unit if found.field else None,
        "share": progress / alone if progress is not None and alone else None,
    }


def _load(found: Capacity) -> str:
    broken = BROKEN_ONCE if found.is_broken_once else ""
    more = _OR_MORE if found.may_be_more else ""
    return f"{found.load:.2f}{broken}{more}"
