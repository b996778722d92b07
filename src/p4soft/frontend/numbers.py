"""Integer literals: `10`, `0xFF`, `8w255`, `16s0b1010`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from p4soft.errors import P4Error
from p4soft.frontend.lexer import Token

_BASES = {"0x": 16, "0o": 8, "0d": 10, "0b": 2}
# Those of the widest fields, in binary (types.MAX_FIELD_WIDTH). Python's own limit is 4300.
_MOST_DIGITS = 4096


@dataclass(frozen=True, slots=True)
class Number:
    value: int
    width: int | None = None  # None: an arbitrary-precision integer
    signed: bool = False
    base: int = 10


def parse_integer(token: Token) -> Number:
    match = re.fullmatch(r"(?:([0-9]+)([ws]))?(0[xXoOdDbB])?([0-9a-fA-F_]+)", token.text)
    assert match, token.text
    width, sign, prefix, digits = match.groups()
    digits = digits.replace("_", "")
    if not digits:
        raise P4Error(token.position, f"'{token.text}' has no digits")
    most = max(len(digits), len(width or ""))
    if most > _MOST_DIGITS:
        raise P4Error(token.position, f"a number of {most} digits; expected at most {_MOST_DIGITS}")
    base = _BASES[prefix.lower()] if prefix else 10
    value = int(digits, base)
    if width is None:
        return Number(value, base=base)
    if int(width) == 0:
        raise P4Error(token.position, f"'{token.text}' has width 0; the smallest is 1")
    return Number(value, int(width), sign == "s", base)
