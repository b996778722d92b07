"""Operations of P4_16 on Python's unbounded integers: specification, sections 8.5 to 8.11.

Values are raw bits, or bools.
"""

from __future__ import annotations

from .tree import Bits, Bool, Type


def number(type_: Type, raw: int) -> int:
    """What raw bits mean."""
    if isinstance(type_, Bits) and type_.signed and raw >> type_.width - 1:
        return raw - (1 << type_.width)
    return raw


def wrapped(type_: Type, value: int) -> int:
    assert isinstance(type_, Bits)
    return value % (1 << type_.width)


def saturated(type_: Type, value: int) -> int:
    assert isinstance(type_, Bits)
    low, high = 0, (1 << type_.width) - 1
    if type_.signed:
        low, high = -(1 << type_.width - 1), (1 << type_.width - 1) - 1
    return wrapped(type_, max(low, min(high, value)))


def unary(operator: str, type_: Type, raw: int) -> int:
    if operator == "!":
        return not raw
    return wrapped(type_, -raw if operator == "-" else ~raw)


def binary(operator: str, type_: Type, left: int, right: int) -> int:
    """type_: that of the operands. Not for && and ||, which may leave out the right one."""
    x, y = number(type_, left), number(type_, right)
    comparisons = {
        "==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y,
    }  # fmt: skip
    if operator in comparisons:
        return comparisons[operator]
    if operator in ("|+|", "|-|"):
        return saturated(type_, x + y if operator == "|+|" else x - y)
    results = {
        "+": x + y, "-": x - y, "*": x * y, "&": left & right, "|": left | right,
        "^": left ^ right, "min": min(x, y), "max": max(x, y),
    }  # fmt: skip
    return wrapped(type_, results[operator])


def shift(operator: str, type_: Type, raw: int, amount: int) -> int:
    x = number(type_, raw)
    return wrapped(type_, x << amount if operator == "<<" else x >> amount)


def cast(source: Type, target: Type, raw: int) -> int:
    if isinstance(target, Bool):
        return bool(raw)
    if isinstance(source, Bool):
        return int(raw)
    return wrapped(target, number(source, raw))


def with_slice(raw: int, high: int, low: int, value: int) -> int:
    mask = (1 << high - low + 1) - 1
    return raw & ~(mask << low) | value << low
