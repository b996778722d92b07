"""From single placements to the throughput of all servers.

Formulas: those of the scripts in FarReach's published artifact (docs/farreach.md).

Rates are operations per second. For iteration i and a partition p in it: X total, W answered by the
switch, S by servers.

Repaired defects of the original scripts:
- rates are never floored (the original truncates to operations per millisecond);
- a rotated partition's latency histogram is scaled with the bottleneck's drift, as its
  throughput is;
- a server that served nothing makes the imbalance undefined instead of being skipped;
- with an iteration missing there is no aggregate, rather than one with a partition at zero.

The rotation's bottleneck is the busiest partition before caching. A cache can make another one the
busiest server, and then `total` is more than all servers together could do; `absolute` is what they
could (docs/farreach.md, Absolute throughput).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True)
class Rates:
    """Operations per second of one partition in one iteration, by who answered."""

    switch: float
    server: float

    @property
    def total(self) -> float:
        return self.switch + self.server

    def scaled(self, switch: float, server: float) -> Rates:
        return Rates(self.switch * switch, self.server * server)


@dataclass(frozen=True)
class Placement:
    """The measured rates of one iteration; `rotated` is None in iteration 0."""

    bottleneck: Rates
    rotated_partition: int | None = None
    rotated: Rates | None = None


@dataclass(frozen=True)
class Aggregate:
    """All partitions of the rotation as if they had run at once."""

    total: float
    switch: float
    server: float
    partitions: Mapping[int, Rates]  # by partition, scaled to the mean bottleneck
    saturated_server: float  # rate of a server that limits: the busier one's, mean over iterations

    @property
    def busiest_server(self) -> float:
        return self.partitions[self.busiest_partition].server

    @property
    def busiest_partition(self) -> int:
        """After caching; the rotation's bottleneck wins a tie."""
        return max(self.partitions, key=lambda partition: self.partitions[partition].server)

    @property
    def normalized(self) -> float | None:
        """Total throughput in units of the busiest server's;

        None when no server served anything.
        """
        return self.total / self.busiest_server if self.busiest_server > 0 else None

    @property
    def absolute(self) -> float | None:
        """Throughput with all partitions at once: the busiest server runs at what a saturated
        server does, all others in proportion. `total` itself where the rotation's bottleneck was
        the busier server in every iteration, as it is without a cache.
        """
        return None if self.normalized is None else self.normalized * self.saturated_server

    @property
    def imbalance(self) -> float | None:
        """Busiest over idlest server; None when a server served nothing."""
        idlest = min(rates.server for rates in self.partitions.values())
        return self.busiest_server / idlest if idlest > 0 else None


def drift(mean: float, observed: float) -> float:
    """Factor that brings an iteration to the rotation's mean bottleneck;

    1 where the bottleneck shows nothing to scale by.
    """
    return mean / observed if observed > 0 else 1.0


def mean_bottleneck(placements: Sequence[Placement]) -> Rates:
    """Xb, Wb, Sb: means over all iterations."""
    return Rates(
        fmean(p.bottleneck.switch for p in placements),
        fmean(p.bottleneck.server for p in placements),
    )


def aggregate(bottleneck: int, placements: Sequence[Placement]) -> Aggregate:
    """placements: every iteration of the rotation, iteration 0 included."""
    mean = mean_bottleneck(placements)
    partitions = {bottleneck: mean}  # first: see busiest_partition
    total = mean.total
    for placement in placements:
        if placement.rotated is None or placement.rotated_partition is None:
            continue
        here = placement.bottleneck
        total += placement.rotated.total * drift(mean.total, here.total)
        partitions[placement.rotated_partition] = placement.rotated.scaled(
            drift(mean.switch, here.switch), drift(mean.server, here.server)
        )
    return Aggregate(
        total=total,
        switch=sum(rates.switch for rates in partitions.values()),
        server=sum(rates.server for rates in partitions.values()),
        partitions=partitions,
        saturated_server=fmean(_busier_server(placement) for placement in placements),
    )


def _busier_server(placement: Placement) -> float:
    rotated = 0.0 if placement.rotated is None else placement.rotated.server
    return max(placement.bottleneck.server, rotated)
