"""Which systems there are: packages of turntable_systems."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

import turntable_systems
from turntable_core.errors import TurntableError, did_you_mean
from turntable_core.system import System
from turntable_systems import FURTHER


@cache
def find(name: str) -> System:
    """By its name, or by one that it had. Raises TurntableError."""
    if name in names():
        return _load(name)
    for system in every():
        if name in system.former_names:
            return system
    raise TurntableError(f"system {name!r}: expected {expected(name)}")


def expected(name: str) -> str:
    """Instead of `name`, which is no system: for messages."""
    further = ", ".join(map(str, FURTHER)) or "none"
    return (
        f"one of {', '.join(names())}{did_you_mean(name, names())}, or one from a directory that "
        f"the environment variable TURNTABLE_SYSTEMS names (now: {further})"
    )


def names() -> list[str]:
    return sorted(found.name for found in pkgutil.iter_modules(turntable_systems.__path__))


def every() -> Iterator[System]:
    return map(_load, names())


def import_components() -> None:
    """All modules that phases ask, of every system and the core's own."""
    for name in ("turntable_core.components", *(system.components for system in every())):
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{name}.{module.name}")


def _load(name: str) -> System:
    return importlib.import_module(f"{turntable_systems.__name__}.{name}").SYSTEM
