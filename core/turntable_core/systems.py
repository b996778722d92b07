"""Which systems there are: packages of turntable_systems."""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import turntable_systems
from turntable_core.errors import TurntableError, did_you_mean
from turntable_core.system import System
from turntable_systems import FURTHER


class BrokenSystemError(TurntableError):
    """A system whose modules cannot be imported: its author made a mistake."""


@cache
def find(name: str) -> System:
    """By its name, or by one that it had. Raises TurntableError (BrokenSystemError)."""
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
    """All but the broken ones, which are none of the others' business."""
    for name in names():
        try:
            system = _load(name)
        except BrokenSystemError:
            continue
        yield system


def broken() -> dict[str, str]:
    """Name -> what is wrong."""
    faults = {}
    for name in names():
        try:
            _load(name)
        except BrokenSystemError as error:
            faults[name] = said_of(error.__cause__)
    return faults


def said_of(error: BaseException) -> str:
    """`FILE:LINE: NameError: …` for a mistake in the code of a system."""
    if isinstance(error, TurntableError):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_of_a_system(Path(frame.filename))]
    last = (own or frames)[-1]
    return f"{last.filename}:{last.lineno}: {type(error).__name__}: {error}"


def import_components() -> None:
    """All modules that phases ask, of every system and the core's own."""
    _import_modules("turntable_core.components")
    for _ in every():
        pass  # loaded with its components


def _load(name: str) -> System:
    """With its components, so that a mistake in one of them is found before a run."""
    try:
        system = importlib.import_module(f"{turntable_systems.__name__}.{name}").SYSTEM
        _import_modules(system.components)
    except Exception as error:
        raise BrokenSystemError(f"system {name!r} cannot be used: {said_of(error)}") from error
    return system


def _import_modules(package_name: str) -> None:
    package = importlib.import_module(package_name)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package_name}.{module.name}")


def _is_of_a_system(file: Path) -> bool:
    return any(Path(directory) in file.parents for directory in turntable_systems.__path__)
