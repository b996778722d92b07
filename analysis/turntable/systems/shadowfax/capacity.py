"""What servers of a capacity do for clients whose pipelines are full, before and after keys move.

Keys are uniform, and a client sends to no server while another one has no room for its next
request. So all servers get requests in the ratio of their shares of the keys, and the busiest one,
which is always busy, decides: operations/s = capacity / its share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from turntable.systems.shadowfax.measurement import Measurement

# After the last step: until then some answers are of what was sent before.
_SETTLED_S = 0.2


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A part of the window in which no key moves."""

    from_s: float
    to_s: float
    shares: Sequence[float]  # of the keys, by server

    @property
    def busiest(self) -> int:
        return max(range(len(self.shares)), key=self.shares.__getitem__)


def phases(measurement: Measurement, parameters: Mapping[str, Any]) -> dict[str, Phase]:
    """Those before and after keys move, as "before" and "after"; "all" of a window in which none
    do. Empty where servers are no cluster, or a migration did not end.
    """
    if measurement.shares is None:
        return {}
    moves = measurement.migrations
    if not moves:
        return {"all": Phase(from_s=0, to_s=measurement.seconds, shares=measurement.shares)}
    if not all(move.complete for move in moves):
        return {}
    owners = parameters["owners"] or parameters["servers"]
    begin = min(move.steps_s["prepare"] for move in moves)
    end = max(move.steps_s["complete"] for move in moves)
    return {
        "before": Phase(from_s=0, to_s=begin, shares=[1 / owners] * owners),
        "after": Phase(
            from_s=end + _SETTLED_S, to_s=measurement.seconds, shares=measurement.shares
        ),
    }


def ops_per_s(measurement: Measurement, phase: Phase, server: int | None = None) -> float | None:
    """Mean over the samples of a phase: of all servers, or of one. None: it has no sample."""
    samples = measurement.clients.samples
    inside = samples.between(phase.from_s, phase.to_s)
    if not inside:
        return None
    counts = samples.operations if server is None else samples.of_server(server)
    return fmean(counts[index] for index in inside) / samples.seconds


def predicted_ops_per_s(phase: Phase, parameters: Mapping[str, Any]) -> float | None:
    """None without a capacity, for keys that are not uniform, and in an open loop."""
    known = parameters["capacity_per_s"] and not parameters["rate_per_s"]
    if not known or parameters["distribution"] != "uniform":
        return None
    return parameters["capacity_per_s"] / phase.shares[phase.busiest]
