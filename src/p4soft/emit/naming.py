"""P4 names as C++ identifiers, and expressions as names.

A P4 name stays as it is, unless it is a C++ keyword or ends in '_': then one more '_' is added. So
names of the emitter's own, which end in exactly one '_' (frame_, reader_), never collide with the
program's.
"""

from __future__ import annotations

import re

from p4soft.frontend import syntax

_KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl
    concept const consteval constexpr constinit continue co_await co_return co_yield
    decltype default delete do double dynamic_cast else enum explicit export extern false
    float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires
    return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unsigned using virtual void
    volatile wchar_t while xor xor_eq linux unix
    """.split()  # noqa: SIM905  a word list reads better than a hundred lines
)


def identifier(name: str) -> str:
    return f"{name}_" if name in _KEYWORDS or name.endswith("_") else name


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
    """Identifiers for paths such as `SwitchIngress.partition`, no two of them equal."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def take(self, path: str) -> str:
        base = re.sub(r"\W", "_", path).strip("_")
        name, number = base, 2
        while name in self._used:
            name, number = f"{base}{number}", number + 1
        self._used.add(name)
        return name
