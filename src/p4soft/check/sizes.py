"""Sizes of tables and value sets."""

from __future__ import annotations

from p4soft.check import types
from p4soft.errors import P4Error, Position
from p4soft.frontend import syntax

_MAX = 2**32 - 1  # the runtime counts entries in 32 bits


def check_size_type(size: syntax.Expression, what: str) -> None:
    """Of a size that may be known only when instances are made: its type, which is checked."""
    assert size.type is not None
    type_ = types.underlying(size.type)
    if not isinstance(type_, (types.Bit, types.Int)) and type_ != types.INTEGER:
        raise P4Error(
            size.position, f"the size of {what} is {size.type}; expected bit<W> or int<W>"
        )


def check_size(size: int, what: str, position: Position) -> None:
    if not 1 <= size <= _MAX:
        raise P4Error(position, f"the size of {what} is {size}; expected 1 to {_MAX}")
