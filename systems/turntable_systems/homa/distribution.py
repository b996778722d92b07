"""The sizes that messages have, with their shares: what `sizes` of nodes and simulation says, as
src/homa/message_sizes.h reads it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from turntable_core.errors import TurntableError

_SLACK = 1e-9  # sums of shares are not exact


@dataclass(frozen=True)
class Distribution:
    sizes: tuple[int, ...]  # bytes, ascending
    cumulative: tuple[float, ...]  # share of the messages that are as small

    def at(self, share: float) -> int:
        """The least size that so many of the messages do not exceed; share: up to 1."""
        index = bisect_left(self.cumulative, share - _SLACK)
        return self.sizes[min(index, len(self.sizes) - 1)]

    def share_up_to(self, size: int) -> float | None:
        """None: no message has this size."""
        index = bisect_left(self.sizes, size)
        there = index < len(self.sizes) and self.sizes[index] == size
        return self.cumulative[index] if there else None

    def largest_of_hundredths(self) -> list[int]:
        return [self.at(hundredth / 100) for hundredth in range(1, 101)]

    def least_of_hundredths(self) -> list[int]:
        """A size at the end of a hundredth is in the next one too, unless its share ends there."""
        ends = [bisect_right(self.cumulative, n / 100 + _SLACK) for n in range(100)]
        return [self.sizes[min(index, len(self.sizes) - 1)] for index in ends]


def distribution_of(argument: Mapping[str, Any], name: str) -> Distribution:
    """argument: of nodes (sizes.argument). name: of the table, for messages. Raises TurntableError
    for a table that is none.
    """
    if "bytes" in argument:
        return Distribution((argument["bytes"],), (1.0,))
    points: dict[int, float] = {}
    for size, share in _points(argument["table"], name):
        # Halves up; Python's round() takes the even one.
        size_ = max(1, math.floor(size / argument.get("divide", 1) + 0.5))
        points[min(size_, argument.get("cap", size_))] = share
    return Distribution(tuple(points), tuple(points.values()))


def _points(text: str, name: str) -> Iterator[tuple[int, float]]:
    """After the first line, which is the mean. A size may stand in several lines."""
    last = (1, 0.0)
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), start=1)]
    for number, words in [line for line in lines if line[1]][1:]:
        point = _point(words)
        if point is None or point[0] < last[0] or not last[1] <= point[1] <= 1 + _SLACK:
            raise TurntableError(
                f"{name}:{number}: {' '.join(words)!r} is not accepted; expected a size in bytes "
                "and the share of messages of this size or less; neither falls, up to 1"
            )
        yield point
        last = point
    if last[1] < 0.999:
        raise TurntableError(
            f"{name}: shares end at {last[1]:g}; expected the mean, then a line "
            "`size share` for each size, up to a share of 1"
        )


def _point(words: list[str]) -> tuple[int, float] | None:
    try:
        size, share = words
        return int(size), float(share)
    except ValueError:
        return None
