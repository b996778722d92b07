"""Conditions that the constructor parameters of a control decide: `if (is_ternary)`.

As in the Tofino compiler, tables and controls that no packet can reach in an instance are not part
of it: a control may declare two tables of one control-plane name, and each of its instances has one
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from p4soft.check.symbols import Symbol, TableSymbol
from p4soft.frontend import syntax
from p4soft.tree import walk

Find = Callable[[Symbol], Any]  # a constructor parameter's value in an instance, or None


def known(condition: syntax.Expression, find: Find) -> bool | None:
    """Whether it holds in every packet; None: that depends on the packet."""
    value = _value(condition, find)
    return value if isinstance(value, bool) else None


def _value(node: syntax.Expression, find: Find) -> Any:
    if node.value is not None:
        return node.value
    if isinstance(node, syntax.Name) and node.symbol is not None:
        found = find(node.symbol)
        return found if isinstance(found, (bool, int)) else None
    if isinstance(node, syntax.Unary) and node.operator == "!":
        operand = known(node.operand, find)
        return None if operand is None else not operand
    if isinstance(node, syntax.Binary):
        return _binary(node, find)
    return None


def _binary(node: syntax.Binary, find: Find) -> bool | None:
    left, right = _value(node.left, find), _value(node.right, find)
    if node.operator in ("&&", "||"):
        decisive = node.operator == "||"
        if decisive in (left, right):
            return decisive
    if left is None or right is None:
        return None
    results = {
        "&&": lambda: left and right,
        "||": lambda: left or right,
        "==": lambda: left == right,
        "!=": lambda: left != right,
    }
    return results[node.operator]() if node.operator in results else None


def applied(body: syntax.Statement, find: Find) -> set[Symbol]:
    """The tables and controls that a packet can come to, also in the keys of such tables."""
    found: set[Symbol] = set()
    parts: list[syntax.Node] = list(reached(body, find))
    while parts:
        for symbol in set(_applied(parts.pop())) - found:
            found.add(symbol)
            if isinstance(symbol, TableSymbol):
                parts += symbol.declaration.keys
    return found


def _applied(root: Any) -> Iterator[Symbol]:
    for node in walk(root):
        target = node.target if isinstance(node, syntax.Call) else None
        if target is not None and target.kind in ("table", "control"):
            yield target.symbol


def reached(statement: syntax.Statement | None, find: Find) -> Iterator[syntax.Node]:
    """The conditions and simple statements where a packet can come, in the order of the source."""
    if isinstance(statement, syntax.Block):
        for inner in statement.statements:
            yield from reached(inner, find)
    elif isinstance(statement, syntax.If):
        holds = known(statement.condition, find)
        yield statement.condition
        if holds is not False:
            yield from reached(statement.then, find)
        if holds is not True:
            yield from reached(statement.otherwise, find)
    elif statement is not None:
        yield statement
