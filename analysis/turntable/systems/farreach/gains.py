"""How many times as much FarReach does as the other methods: published, by the traces, measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turntable.results import CellResult
from turntable.stats import Estimate, estimate
from turntable_systems.farreach import offered
from turntable_systems.farreach.methods import WRITE_BACK, compared, crash_of

_RATE = "aggregate_ops_per_s"


@dataclass(frozen=True)
class Gain:
    """FarReach's aggregate throughput by that of one cell of another method."""

    cell: CellResult  # of the other method
    paper: float | None
    trace: float | None
    measured: Estimate | None  # of the rounds that are valid in both; they have the same traces
    gap: str | None  # why it was not measured, in a word


def gains(cells: Sequence[CellResult]) -> list[Gain]:
    """Of the cells that have one of FarReach beside them, in order."""
    pairs = [(cell, write_back(cell, cells)) for cell in cells if is_throughput(cell)]
    return [
        Gain(
            cell,
            _quotient(other.paper[_RATE], cell.paper[_RATE]),
            _quotient(*(each.predicted(f"trace_{_RATE}") for each in (other, cell))),
            _measured(other, cell),
            other.gap or cell.gap,
        )
        for cell, other in pairs
        if other is not None and cell.parameters["method"] not in WRITE_BACK
    ]


def is_throughput(cell: CellResult) -> bool:
    """Whether it is what the servers can do: no more is asked of a cell that offers less, nor of
    one whose nodes are killed.
    """
    return not crash_of(cell.parameters) and not offered.is_open(cell.parameters)


def write_back(cell: CellResult, cells: Sequence[CellResult]) -> CellResult | None:
    """FarReach's cell of the same parameters."""
    wanted = compared(cell.parameters)
    for other in cells:
        if other.parameters["method"] in WRITE_BACK and compared(other.parameters) == wanted:
            return other
    return None


def _measured(dividend: CellResult, divisor: CellResult) -> Estimate | None:
    above, below = (
        {turn.round: turn.row[_RATE] for turn in cell.counted} for cell in (dividend, divisor)
    )
    return estimate(
        [_quotient(above[round_], below[round_]) for round_ in above if round_ in below]
    )


def _quotient(dividend: float | None, divisor: float | None) -> float | None:
    return dividend / divisor if dividend and divisor else None
