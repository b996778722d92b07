"""Peak throughput: the most that a method delivered at any offered load, with no loss, and with at
most 2 % (what the artifact's authors allow).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turntable.results import CellResult

LOSSES = (("peak_0", 0.0), ("peak_2", 0.02))
# Cells that agree in these differ in their load alone.
_SAME = (
    "method",
    "distribution",
    "servers",
    "workers",
    "unequal_workers",
    "filter",
    "laedge_mode",
    "jitter_probability",
)


def peaks(cells: Sequence[CellResult]) -> list[dict[str, Any]]:
    """A row per method and whatever else tells cells apart beside the load, where it has several
    loads.
    """
    groups: dict[tuple[Any, ...], list[CellResult]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.parameters.get(name) for name in _SAME), []).append(cell)
    return [_row(key, group) for key, group in groups.items() if len(group) > 1]


def _row(key: Sequence[Any], cells: Sequence[CellResult]) -> dict[str, Any]:
    rows = [turn.row for cell in cells for turn in cell.counted]
    known = dict(zip(_SAME, key, strict=True))
    servers = known["unequal_workers"] or f"{known['servers']} x {known['workers']}"
    best = {
        name: max((row["delivered_rps"] for row in rows if row["loss_share"] <= most), default=None)
        for name, most in LOSSES
    }
    highest = max((row["offered_rps"] for row in rows), default=None)
    return known | best | {"servers": servers, "highest": highest}
