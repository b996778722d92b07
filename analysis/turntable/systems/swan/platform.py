"""What the server says of itself, as names and values for people and for the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turntable.results import CellResult
from turntable.systems.swan.measurement import BestEffort
from turntable.systems.swan.profile import in_order


def platform_of(cells: Sequence[CellResult]) -> list[tuple[str, str]]:
    """Of the last iteration that has it; nested names are joined with dots."""
    known = [
        one.platform
        for cell in cells
        for turn in cell.turns
        for one in turn.measurements
        if one.platform
    ]
    return list(_flat("", known[-1])) if known else []


def jobs_of(cells: Sequence[CellResult]) -> list[BestEffort]:
    """Aggressors as they were first started, in the order of the profile's rows."""
    found: dict[str, BestEffort] = {}
    order: dict[str, None] = {}
    for cell in cells:
        for turn in cell.turns:
            for one in turn.measurements:
                if one.best_effort:
                    found.setdefault(one.best_effort.name, one.best_effort)
        order |= dict.fromkeys(in_order(cell.parameters, found))
    return [found[name] for name in order]


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), part)
    elif isinstance(value, list):
        yield name, "; ".join(map(_text, value)) or "none"
    elif value not in (None, {}):
        yield name, _text(value)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(part)}" for key, part in value.items())
    if isinstance(value, list):
        return "+".join(map(_text, value))
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value).lower() if isinstance(value, bool) else str(value)
