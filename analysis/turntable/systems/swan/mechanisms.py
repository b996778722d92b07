"""Isolation mechanisms: what people call them, and which profiles differ in nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turntable.systems.swan.profile import Profile

NONE = "none"

# Parameters that say how the best-effort job is held back.
_OWN = {
    *("isolation", "be_shares", "quota_share", "nice", "rt_runtime_share"),
    *("cat_ways", "mba_percent"),
}
# Mechanism -> how its strength is said.
_STRENGTH = {
    "shares": lambda parameters: f" {parameters['be_shares']}",
    "quota": lambda parameters: f" {100 * parameters['quota_share']:g}%",
    "cat": lambda parameters: f" {parameters['cat_ways']} ways",
    "mba": lambda parameters: f" {parameters['mba_percent']}%",
}


def name_of(parameters: Mapping[str, Any]) -> str:
    """shares 2; quota 10%."""
    isolation = parameters["isolation"]
    strength = _STRENGTH.get(isolation)
    try:
        return isolation + (strength(parameters) if strength else "")
    except KeyError:  # a plan without this parameter
        return isolation


def groups(profiles: Sequence[Profile]) -> list[dict[str, Profile]]:
    """Profiles by mechanism, of those that differ in nothing else; those of several alone, and only
    where one of them is without isolation.
    """
    found: dict[str, dict[str, Profile]] = {}
    for one in profiles:
        rest = {name: value for name, value in one.parameters.items() if name not in _OWN}
        found.setdefault(str(sorted(rest.items())), {})[name_of(one.parameters)] = one
    return [group for group in found.values() if len(group) > 1 and NONE in group]
