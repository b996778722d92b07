"""P4 names as C++ identifiers, and expressions as names.

A P4 name gets an end that no other name has: it is then no keyword of C++, no macro of its headers
and no name of the runtime (`slice`, `bytes`), which it would hide. Intrinsic metadata stay as they
are, for the emitter names them, too. Names of the emitter's own end in '_' (frame_, reader_).
"""

from __future__ import annotations

import re
from pathlib import Path

from p4soft.frontend import syntax

_BASE = (Path(__file__).parents[1] / "include" / "tofino1_base.p4").read_text()
_INTRINSIC = frozenset(
    name
    for declaration in re.findall(r"\b(?:header|struct) \w+_intrinsic_metadata_\w+ {[^}]*}", _BASE)
    for name in re.findall(r"(\w+)(?: {|;)", declaration)
)


def identifier(name: str) -> str:
    return name if name in _INTRINSIC else f"{name}_p4"


def expression_text(expression: syntax.Expression) -> str:
    """As keys are named: `hdr.ipv4.dst_addr`, `hdr.stack$0.field`, `md.slot[14:0]`."""
    if isinstance(expression, syntax.Name):
        return expression.name
    if isinstance(expression, syntax.Member):
        return f"{expression_text(expression.base)}.{expression.name}"
    if isinstance(expression, syntax.Index):
        return f"{expression_text(expression.base)}${expression.index.value}"
    if isinstance(expression, syntax.Slice):
        return f"{expression_text(expression.base)}[{expression.high.value}:{expression.low.value}]"
    if isinstance(expression, syntax.Call) and expression.target.name == "isValid":
        return f"{expression_text(expression.target.base)}.$valid"
    if isinstance(expression, syntax.Cast):
        return expression_text(expression.operand)
    return "key"


class UniqueNames:
    """Identifiers for paths such as `SwitchIngress.partition`, no two of them equal. They have the
    end of P4 names, too: a path may be `packet` or, by @name, `1st`.
    """

    def __init__(self) -> None:
        self._used: set[str] = set()

    def take(self, path: str) -> str:
        base = re.sub(r"\W", "_", path).strip("_")
        if not base[:1].isalpha():
            base = f"n{base}"
        name, number = f"{base}_p4", 2
        while name in self._used:
            name, number = f"{base}{number}_p4", number + 1
        self._used.add(name)
        return name
