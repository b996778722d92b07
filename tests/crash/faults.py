"""Faults of links by chance: rules of softswitch's `impair` (docs/p4soft.md, Faults of links)."""

from __future__ import annotations

from typing import Any

from .rack import MS

Rule = dict[str, Any]


def chance(action: str, percent: float, seed: int, **fields: Any) -> Rule:
    return {"action": action, "chance": percent / 100, "seed": seed, **fields}


def in_order(seed: int) -> list[Rule]:
    """What happens to packets between switch and server, where order is kept: a copy comes right
    behind its frame.
    """
    return [chance("drop", 0.3, seed), chance("duplicate", 2, seed + 1)]


def every_frame(action: str) -> Rule:
    """Of a link that does nothing else."""
    return {"action": action, "every": 1}


def late(seed: int) -> Rule:
    """Packets for which an admission does not wait."""
    return chance("delay", 8, seed, delay_ns=15 * MS)


def disorder(seed: int) -> list[Rule]:
    """What happens to packets between client and switch, where order is not kept."""
    return [
        chance("duplicate", 5, seed),
        chance("reorder", 5, seed + 1, behind=3, delay_ns=5 * MS),
        chance("delay", 3, seed + 2, delay_ns=2 * MS),
    ]
