"""Faults of links by chance: rules of softswitch's `impair` (docs/p4soft.md, Faults of links)."""

from __future__ import annotations

from typing import Any

from .rack import MS

Rule = dict[str, Any]


def chance(action: str, percent: float, seed: int, **fields: Any) -> Rule:
    return {"action": action, "chance": percent / 100, "seed": seed, **fields}


def disorder(seed: int) -> list[Rule]:
    """What happens to packets between client and switch, where order is not kept."""
    return [
        chance("duplicate", 5, seed),
        chance("reorder", 5, seed + 1, behind=3, delay_ns=5 * MS),
        chance("delay", 3, seed + 2, delay_ns=2 * MS),
    ]
