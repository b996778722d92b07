"""Columns of the table that a run ends with, and slowdown by size beside simulation and paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turntable.grid import Column, Table
from turntable.results import CellResult
from turntable.systems.homa.summary import BESIDE_TENTHS, OF_TENTHS
from turntable_systems.homa import methods

_HALF = "p99, smaller half"
_LARGEST = "p99, largest tenth"
_PAYLOAD = "payload (Mb/s)"
ROUNDS = (
    Column(_PAYLOAD, "offered", "offered_mbps", ".2f"),
    Column(_PAYLOAD, "delivered", "delivered_mbps", ".2f"),
    Column(_HALF, "predicted", "predicted_p99_half", ".2f"),
    Column(_HALF, "paper", "paper_p99_at_20", ".3g"),
    Column(_HALF, "measured", "p99_half", ".2f", measured=True),
    Column(_LARGEST, "predicted", "predicted_p99_tenth_10", ".2f"),
    Column(_LARGEST, "measured", "p99_tenth_10", ".2f", measured=True),
    Column("", "state", "state", ""),
)
CELLS = ROUNDS[1:-1]

*_ALL_BUT_LAST, _LAST = BESIDE_TENTHS
_WHERE = f"{', '.join(map(str, _ALL_BUT_LAST))} and {_LAST}"
_TENTHS = "p99 slowdown by tenth of the messages, smallest first"
_BY_SIZE = (
    Column("", "cell", "label", ""),
    Column("", "", "kind", ""),
    *(Column(_TENTHS, str(index), name, ".2f") for index, name in enumerate(OF_TENTHS, start=1)),
)


_OWN, _BESIDE = "those of the method", "those beside"
_MIXED = (
    Column("", "cell", "label", ""),
    Column("", "beside", "beside", ""),
    *(
        Column(group, head, f"{prefix}{key}", form)
        for group, prefix in ((_OWN, ""), (_BESIDE, "beside_"))
        for head, key, form in (
            ("p50, smaller half", "p50_half", ".2f"),
            ("p99, smaller half", "p99_half", ".2f"),
            ("p99, largest tenth", "p99_tenth_10", ".2f"),
        )
    ),
)


def further(cells: Sequence[CellResult]) -> list[Table]:
    return [*slowdown_table(cells), *mixed_table(cells)]


def mixed_table(cells: Sequence[CellResult]) -> list[Table]:
    """Slowdowns of both halves of the clients, where they have two methods."""
    keys = [column.key for column in _MIXED[2:]]
    rows = [
        {
            "label": cell.label.replace(" · ", ", "),
            "beside": cell.parameters["beside"],
            **{key: _mean(cell, key) for key in keys},
        }
        for cell in cells
        if cell.counted
    ]
    mixed = any(row["beside"] != methods.NONE for row in rows)
    title = "Slowdown of clients by method, where every second one has another"
    return [Table(title, _MIXED, rows)] if mixed else []


def slowdown_table(cells: Sequence[CellResult]) -> list[Table]:
    """Measured, predicted and published, of cells with a valid round."""
    rows: list[dict[str, Any]] = []
    for cell in cells:
        if not cell.counted:
            continue
        label = cell.label.replace(" · ", ", ")
        measured = {name: _mean(cell, name) for name in OF_TENTHS}
        predicted = {name: cell.predicted(f"predicted_{name}") for name in OF_TENTHS}
        rows.append({"label": label, "kind": "measured", **measured})
        if None not in predicted.values():
            rows.append({"label": "", "kind": "predicted", **predicted})
        if any(cell.paper.values()):
            rows.append({"label": "", "kind": "paper", **_published(cell)})
    title = f"Slowdown by size; the paper's are at {_WHERE} % of the messages"
    return [Table(title, _BY_SIZE, rows)] if rows else []


def _published(cell: CellResult) -> dict[str, float | None]:
    found: dict[str, float | None] = dict.fromkeys(OF_TENTHS)
    for at, tenth in BESIDE_TENTHS.items():
        found[OF_TENTHS[tenth - 1]] = cell.paper.get(f"p99_slowdown_at_{at}")
    return found


def _mean(cell: CellResult, name: str) -> float | None:
    result = cell.measured(name)
    return result.mean if result else None
