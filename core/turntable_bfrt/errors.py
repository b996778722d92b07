"""What can go wrong between a client and a switch."""

from __future__ import annotations

from collections.abc import Sequence


class SchemaError(ValueError):
    """A name or value that the tables of the switch do not have; nothing was sent."""


class BfrtError(Exception):
    """A call that the switch did not do.

    code: the name of gRPC's status, for instance ALREADY_EXISTS. updates: of a Write, the errors
    of single updates, by their position.
    """

    def __init__(
        self, what: str, code: str, message: str, updates: Sequence[tuple[int, str, str]] = ()
    ) -> None:
        said = "; ".join(f"update {i}: {one} {text}" for i, one, text in updates)
        super().__init__(f"{what}: {code}: {said or message}")
        self.code = code
        self.message = message
        self.updates = list(updates)
