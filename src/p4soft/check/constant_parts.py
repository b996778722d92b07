"""Constants that have parts: structs, headers and tuples."""

from __future__ import annotations

from collections.abc import Iterator

from p4soft.check import types
from p4soft.check.symbols import VariableSymbol
from p4soft.frontend import syntax


def leaves(expression: syntax.Expression) -> Iterator[syntax.Expression]:
    """What a value consists of, through lists and other constants; else it itself."""
    whole = _whole(expression)
    if isinstance(whole, syntax.ListExpression):
        for item in whole.items:
            yield from leaves(item)
    elif isinstance(whole, syntax.StructExpression):
        for item in whole.items:
            yield from leaves(item.expression)
    else:
        yield expression


def constant_field(member: syntax.Member) -> syntax.Expression | None:
    """What a constant has in a field, or None if the base is no constant with fields."""
    whole = _whole(member.base)
    if isinstance(whole, syntax.StructExpression):
        return next((i.expression for i in whole.items if i.name == member.name), None)
    type_ = member.base.type
    if isinstance(whole, syntax.ListExpression) and isinstance(type_, types.Composite):
        return whole.items[list(type_.fields).index(member.name)]
    return None


def _whole(expression: syntax.Expression) -> syntax.Expression | None:
    """The list that an expression stands for."""
    if isinstance(expression, (syntax.ListExpression, syntax.StructExpression)):
        return expression
    if isinstance(expression, syntax.Cast):
        return _whole(expression.operand)
    if isinstance(expression, syntax.Member):
        field = constant_field(expression)
        return None if field is None else _whole(field)
    symbol = expression.symbol if isinstance(expression, syntax.Name) else None
    return symbol.initializer if isinstance(symbol, VariableSymbol) else None
