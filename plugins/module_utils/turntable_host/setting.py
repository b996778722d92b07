"""One setting of a host: a kind, a name and a value that can be read and written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

# What JSON has; None: the thing is not there.
Value = Any


class Setting:
    """Subclasses say how one kind is read and written. Equal names of a kind: the same setting."""

    kind: ClassVar[str]
    # Whether it outlives a boot of the host. What does not is forgotten with the boot.
    lasts: ClassVar[bool] = False
    # Values beside the old and the new one that an interrupted write leaves.
    between: ClassVar[tuple[Value, ...]] = ()

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def read(self) -> Value:
        """The present value. Raises GoneError if the host has nothing that could have one."""
        raise NotImplementedError

    def write(self, value: Value) -> None:
        raise NotImplementedError

    def has(self, present: Value, wanted: Value) -> bool:
        """Whether `present` is as wanted; a dict is if it has all that is wanted."""
        if isinstance(present, dict) and isinstance(wanted, dict):
            return all(present.get(key) == value for key, value in wanted.items())
        return present == wanted

    def describe(self, value: Value, wanted: Value) -> str:
        """The part of `value` that `wanted` speaks of, in words."""
        if isinstance(value, dict) and isinstance(wanted, dict):
            value = " ".join(f"{key}={value.get(key, 'none')}" for key in wanted)
        return "none" if value is None else str(value).rstrip("\n")

    @classmethod
    def write_all(cls, values: Iterable[tuple[Setting, Value]]) -> None:
        """Several settings of this kind."""
        for setting, value in values:
            setting.write(value)
