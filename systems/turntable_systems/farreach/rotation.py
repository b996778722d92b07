"""The rotation of a turn: every partition runs beside the bottleneck once.

FarReach (USENIX ATC'23) §5.1: two server hosts stand for any number of servers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turntable_core.plan import Iteration


@dataclass(frozen=True)
class Pair:
    """The bottleneck partition on server host 0, and a rotated one on server host 1 (none in
    iteration 0).
    """

    bottleneck: int
    rotated: int | None

    @property
    def partitions(self) -> list[int]:
        return [self.bottleneck] if self.rotated is None else [self.bottleneck, self.rotated]


def rotation(servers: int, bottleneck: int) -> list[Pair]:
    """Iteration 0: the bottleneck alone; then with every other partition, ascending."""
    others = [partition for partition in range(servers) if partition != bottleneck]
    return [Pair(bottleneck, None), *(Pair(bottleneck, other) for other in others)]


def rotates(parameters: Mapping[str, Any]) -> bool:
    """Otherwise all partitions run at once."""
    return parameters.get("rotation", True)


def iterations(servers: int, bottleneck: int) -> tuple[Iteration, ...]:
    return tuple(
        Iteration(index, label(pair.partitions), {"partitions": pair.partitions})
        for index, pair in enumerate(rotation(servers, bottleneck))
    )


def all_at_once(servers: int, bottleneck: int) -> tuple[Iteration, ...]:
    """The bottleneck on server host 0, as in a rotation."""
    others = [partition for partition in range(servers) if partition != bottleneck]
    partitions = [bottleneck, *others]
    return (Iteration(0, label(partitions), {"partitions": partitions}),)


def label(partitions: list[int]) -> str:
    """`partitions 14+3`: bottleneck first."""
    return f"partitions {pair_text(partitions)}"


def pair_text(partitions: list[int]) -> str:
    return "+".join(map(str, partitions))


def partitions_of(iteration: Iteration) -> list[int]:
    """Bottleneck first, then the rotated one."""
    return list(iteration.data["partitions"])
