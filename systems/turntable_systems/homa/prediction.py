"""What a simulation of the same transport promises for the very calls that a round makes, before
anything is measured; and the priorities that follow from the sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hdrh.histogram import HdrHistogram

_BASELINE_SIZES = 16


@dataclass(frozen=True)
class Prediction:
    """Times are those of the testbed's clock: dilated."""

    payload_bps: float  # of each client, in each direction
    mean_bytes: float
    rtt_bytes: int
    unscheduled_levels: int
    cutoffs: tuple[int, ...]
    degree: int
    calls: int  # that arrive in the window
    offered_bps: float  # payload of these
    delivered_bps: float  # of what was answered in the window
    # HdrHistogram V2 text, of each tenth of the messages by size; none of TCP.
    rtt_ns: tuple[str, ...]
    slowdown_1000: tuple[str, ...]  # the same, in thousandths of the idle network's round trip
    idle_ns: tuple[tuple[int, float], ...]  # size and round trip on it: some sizes of all ranges

    @property
    def delivered_share(self) -> float:
        """Below 1 where long messages are under way when a short window ends."""
        return self.delivered_bps / self.offered_bps if self.offered_bps else 1.0


def from_json(document: Mapping[str, Any]) -> Prediction:
    lists = ("cutoffs", "rtt_ns", "slowdown_1000")
    pairs = tuple((size, ns) for size, ns in document["idle_ns"])
    return Prediction(
        **{**document, **{name: tuple(document[name]) for name in lists}, "idle_ns": pairs}
    )


def from_answer(answer: Mapping[str, Any], *, of_its_transport: bool) -> Prediction:
    """answer: of homa-sim. of_its_transport: or of another one that is offered the same calls."""
    deciles = answer["deciles"] if of_its_transport else []
    return Prediction(
        payload_bps=answer["payload_gbps"] * 1e9,
        mean_bytes=answer["mean_bytes"],
        rtt_bytes=answer["rtt_bytes"],
        unscheduled_levels=answer["unscheduled_levels"],
        cutoffs=tuple(answer["cutoffs"]),
        degree=answer["degree"],
        calls=answer["offered"],
        offered_bps=answer["offered_gbps"] * 1e9,
        delivered_bps=answer["delivered_gbps"] * 1e9,
        rtt_ns=tuple(decile["rtt_ns"] for decile in deciles),
        slowdown_1000=tuple(decile["slowdown_1000"] for decile in deciles),
        idle_ns=_spread(answer["idle_round_trips"]),
    )


def _spread(rows: Sequence[Sequence[float]]) -> tuple[tuple[int, float], ...]:
    """Of all sizes some, evenly on a logarithmic scale, the smallest and the largest among them."""
    smallest, largest = rows[0][0], rows[-1][0]
    factor = (largest / smallest) ** (1 / (_BASELINE_SIZES - 1))
    chosen, next_bytes = {largest: rows[-1][1]}, float(smallest)
    for size, ns in rows:
        if size >= next_bytes:
            chosen[size] = ns
            next_bytes = max(next_bytes * factor, size * factor)
    return tuple((int(size), ns) for size, ns in sorted(chosen.items()))


def percentile(text: str, percent: float) -> float:
    """Of a histogram of thousandths."""
    return HdrHistogram.decode(text).get_value_at_percentile(percent) / 1000
