"""Load points: shares of the peak, in steps as large as the first one, or as they are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SEPARATOR = "+"
LEAST, MOST = 0.001, 2.0  # of the peak; below that a window has no percentile


def name_of(load: float) -> str:
    """By which `only` chooses it."""
    return f"{load:.3g}"


def loads(parameters: Mapping[str, Any]) -> tuple[float, ...]:
    """In order of size. Raises ValueError for what is no list of shares."""
    text = parameters["loads"]
    if not text:
        points = parameters["load_points"]
        return tuple((index + 1) / points for index in range(points))
    shares = tuple(float(part) for part in str(text).split(SEPARATOR))
    names = {name_of(share) for share in shares}
    if (
        sorted(set(shares)) != list(shares)
        or len(names) < len(shares)
        or not all(LEAST <= share <= MOST for share in shares)
    ):
        raise ValueError(text)
    return shares
