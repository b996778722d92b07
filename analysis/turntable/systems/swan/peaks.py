"""What the peak of a cell is, in a sentence: the loads of a profile are shares of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from turntable.results import CellResult

_NOT_CONFIRMED = ", not confirmed: the search had no time to measure both of its ends again"


def peaks(cell: CellResult) -> Iterator[str]:
    """One, unless the node was told to forget it."""
    every = (one.generator for turn in cell.turns for one in turn.measurements)
    found = dict.fromkeys(
        (each.peak_per_s, each.peak_confirmed, each.peak_found_at_ns) for each in every
    )
    for peak_per_s, confirmed, found_at_ns in found:
        if peak_per_s is None:
            yield f"Peak: {cell.parameters['peak_load']:,.0f} requests/s, as it was given."
            continue
        at = _at(found_at_ns)
        how = _NOT_CONFIRMED if confirmed is False else ""
        yield f"Peak: {peak_per_s:,.0f} requests/s, searched{at}{how}."


def _at(found_at_ns: int | None) -> str:
    if found_at_ns is None:
        return ""
    return f" {datetime.fromtimestamp(found_at_ns / 1e9, UTC):%Y-%m-%d %H:%M} UTC"
