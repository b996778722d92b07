"""Peak throughput: the most that a method delivered at any offered load, with no loss, and with at
most 2 % (what the artifact's authors allow).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turntable.results import CellResult
from turntable.systems.netclone import peculiar

LOSSES = (("peak_0", 0.0), ("peak_2", 0.02))
# Cells that agree in these differ in their load alone.
_SAME = ("method", "distribution", *peculiar.PARAMETERS)
_OF_SERVERS = ("servers", "workers", "unequal_workers")  # shown beside


def peaks(cells: Sequence[CellResult]) -> list[dict[str, Any]]:
    """A row per method and whatever else tells cells apart beside the load, where it has several
    loads.
    """
    groups: dict[tuple[Any, ...], list[CellResult]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.parameters.get(name) for name in _SAME), []).append(cell)
    differing = [name for name in peculiar.differing(cells) if name not in _OF_SERVERS]
    return [_row(key, group, differing) for key, group in groups.items() if len(group) > 1]


def _row(
    key: Sequence[Any], cells: Sequence[CellResult], differing: Sequence[str]
) -> dict[str, Any]:
    rows = [turn.row for cell in cells for turn in cell.counted]
    known = dict(zip(_SAME, key, strict=True))
    servers = known["unequal_workers"] or f"{known['servers']} x {known['workers']}"
    best = {
        name: max((row["delivered_rps"] for row in rows if row["loss_share"] <= most), default=None)
        for name, most in LOSSES
    }
    highest = max((row["offered_rps"] for row in rows), default=None)
    line = ", ".join(filter(None, (known["method"], peculiar.words(known, differing))))
    return known | best | {"line": line, "servers": servers, "highest": highest}
