"""Compares what p4soft says of a program with what the compiler says: nested names and values."""

from __future__ import annotations

from typing import Any

Names = dict[str, Any]  # nested: what a control plane addresses -> its type


def differences(ours: Names, theirs: Names) -> list[str]:
    """One line per difference, empty if there is none."""
    found: list[str] = []
    _compare("", ours, theirs, found)
    return found


def _compare(place: str, ours: Any, theirs: Any, found: list[str]) -> None:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found += [f"{place}{name}: only p4soft has it" for name in ours if name not in theirs]
        found += [f"{place}{name}: only the compiler has it" for name in theirs if name not in ours]
        for name in ours.keys() & theirs.keys():
            _compare(f"{place}{name}: " if place else f"{name} ", ours[name], theirs[name], found)
    elif ours != theirs:
        found.append(f"{place}p4soft says {ours}, the compiler {theirs}")
