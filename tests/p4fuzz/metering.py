"""Meters by RFC 2698, section 3: two rates, three colours, colour-aware."""

from __future__ import annotations

from dataclasses import dataclass

from . import tree

GREEN, YELLOW, RED = 0, 1, 3  # MeterColor_t
_BYTES_OF_KILOBIT = 125


@dataclass
class Buckets:
    """Tokens of one cell; full at first. Instants are whole seconds, so tokens are whole, too."""

    committed: int
    peak: int
    filled_at_s: int


class Metering:
    """cells: buckets by the meter's name and the number of the cell or entry."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, int], Buckets] = {}

    def color(
        self,
        meter: tree.Meter | tree.DirectMeter,
        cell: int,
        limits: tree.Limits | None,
        color: int,
        now_s: int,
        frame_bytes: int,
    ) -> int:
        """The value for the packet's colour, which had `color` before."""
        result = color
        if limits is not None:
            unit, cost = (1, 1) if meter.unit == "PACKETS" else (_BYTES_OF_KILOBIT, frame_bytes)
            key = meter.name, cell
            full = limits.committed_burst * unit, limits.peak_burst * unit
            buckets = self._cells.setdefault(key, Buckets(*full, now_s))
            elapsed, buckets.filled_at_s = now_s - buckets.filled_at_s, now_s
            gained = limits.committed_rate * unit * elapsed, limits.peak_rate * unit * elapsed
            buckets.committed = min(full[0], buckets.committed + gained[0])
            buckets.peak = min(full[1], buckets.peak + gained[1])
            result = _marked(buckets, cost, color)
        if meter.colors is None:
            return result
        return meter.colors[[RED, YELLOW, GREEN].index(result)]


def _marked(buckets: Buckets, cost: int, color: int) -> int:
    if color == RED or buckets.peak < cost:
        return RED
    buckets.peak -= cost
    if color == YELLOW or buckets.committed < cost:
        return YELLOW
    buckets.committed -= cost
    return GREEN
