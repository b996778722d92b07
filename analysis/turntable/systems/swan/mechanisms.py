"""Isolation mechanisms: what people call them, and which profiles differ in nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turntable.systems.swan.profile import Profile
from turntable_systems.swan import isolation

NONE = isolation.NONE

# Parameters that say how the best-effort job is held back.
_OWN = {"isolation", *(name for names in isolation.SETTINGS.values() for name in names)}
# Mechanism -> how its strength is said.
_STRENGTH = {
    "shares": lambda parameters: f" {parameters['be_shares']}",
    "quota": lambda parameters: f" {100 * parameters['quota_share']:g}%",
    "cat": lambda parameters: f" {parameters['cat_ways']} ways",
    "mba": lambda parameters: f" {parameters['mba_percent']}%",
    "fifo": lambda parameters: f" {100 * parameters['rt_runtime_share']:g}%",
    "nice": lambda parameters: f" {parameters['be_nice']}",
}


def name_of(parameters: Mapping[str, Any]) -> str:
    """shares 2; quota 10%."""
    mechanism = parameters["isolation"]
    strength = _STRENGTH.get(mechanism)
    return mechanism + (strength(parameters) if strength else "")


def groups(profiles: Sequence[Profile]) -> list[dict[str, Profile]]:
    """Profiles by mechanism, of those that differ in nothing else; those of several alone, and only
    where one of them is without isolation.
    """
    found: dict[str, dict[str, Profile]] = {}
    for one in profiles:
        rest = {name: value for name, value in one.parameters.items() if name not in _OWN}
        found.setdefault(str(sorted(rest.items())), {})[name_of(one.parameters)] = one
    return [group for group in found.values() if len(group) > 1 and NONE in group]
