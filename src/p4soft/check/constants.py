"""Arithmetic on compile-time constants, with the wrap-around of their types (P4-16 specification,
section 8).
"""

from __future__ import annotations

from typing import Any

from p4soft.check.types import Bit, Int, Type, underlying, wrap
from p4soft.errors import P4Error, Position

MAX_CONSTANT_SHIFT = 4096


def fold_unary(operator: str, value: Any, type_: Type) -> Any:
    if operator == "!":
        return not value
    if operator == "-":
        return wrap(-value, type_)
    if operator == "~":
        return wrap(~value, type_)
    return value


def fold_binary(operator: str, left: Any, right: Any, type_: Type, position: Position) -> Any:
    """`type_` is the result's; for ++ the right operand's width is found by the caller."""
    if operator in ("==", "!="):
        return (left == right) == (operator == "==")
    if operator == "&&":
        return left and right
    if operator == "||":
        return left or right
    if operator in ("<", "<=", ">", ">="):
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[
            operator
        ]
    if operator in ("/", "%"):
        if right == 0:
            raise P4Error(position, f"the right operand of '{operator}' is 0")
        if left < 0 or right < 0:
            raise P4Error(
                position,
                f"'{operator}' of {left} and {right}; P4 has no division of negative numbers",
            )
        return wrap(left // right if operator == "/" else left % right, type_)
    if operator in ("<<", ">>"):
        if right > MAX_CONSTANT_SHIFT:
            raise P4Error(
                position, f"a shift by {right} bits; expected at most {MAX_CONSTANT_SHIFT}"
            )
        return wrap(left << right if operator == "<<" else left >> right, type_)
    if operator in ("|+|", "|-|"):
        return saturate(left + right if operator == "|+|" else left - right, type_)
    results = {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "&": lambda: left & right,
        "|": lambda: left | right,
        "^": lambda: left ^ right,
    }
    return wrap(results[operator](), type_)


def saturate(value: int, type_: Type) -> int:
    type_ = underlying(type_)
    assert isinstance(type_, (Bit, Int))
    low, high = (0, (1 << type_.width) - 1)
    if isinstance(type_, Int):
        low, high = (-(1 << type_.width - 1), (1 << type_.width - 1) - 1)
    return min(max(value, low), high)


def raw_bits(value: Any, type_: Type) -> int:
    """A value's bits as a non-negative number."""
    type_ = underlying(type_)
    if isinstance(value, bool):
        return int(value)
    if isinstance(type_, Int):
        return value & (1 << type_.width) - 1
    return value
