"""Optimal core allocation: memcached's threads against load, without an aggressor."""

from __future__ import annotations

from collections.abc import Sequence

from turntable.grid import Column, Table
from turntable.systems.swan.capacity import capacity
from turntable.systems.swan.profile import Profile
from turntable.systems.swan.tables import latency_look
from turntable_systems.swan.aggressors import BASELINE


def by_threads(profiles: Sequence[Profile]) -> list[tuple[int, Profile]]:
    """Of those that differ in memcached's threads; empty where they do not."""
    found = sorted(((one.parameters["threads"], one) for one in profiles), key=lambda pair: pair[0])
    return found if len({threads for threads, _ in found}) > 1 else []


def core_tables(profiles: Sequence[Profile]) -> list[Table]:
    rows = [(threads, one) for threads, one in by_threads(profiles) if BASELINE in one.aggressors]
    if not rows:
        return []
    first = rows[0][1]
    columns = [
        Column("", "threads", "threads", "d"),
        Column("", "peak/s", "peak", ",.0f"),
        *(
            Column("share of that peak", f"{share:.0%}", str(index), ">")
            for index, share in enumerate(first.loads)
        ),
        Column("", "within SLO/s", "held", ",.0f"),
    ]
    title = (
        f"Core allocation: {first.percentile} in % of the SLO of {first.slo_us:,.0f} µs, and the "
        "highest rate within it"
    )
    return [Table(title, columns, [_row(threads, one) for threads, one in rows])]


def _row(threads: int, profile: Profile) -> dict[str, object]:
    look, held = latency_look(profile), capacity(profile, BASELINE)
    texts = {str(field.index): look(field).text for field in profile.row(BASELINE)}
    return {
        "threads": threads,
        "peak": profile.peak_per_s,
        "held": held.rate_per_s if held else None,
        **texts,
    }
