"""Types as written, and expressions. The checker fills `type`, `value`, `symbol` and `target`."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from p4soft.errors import Position
from p4soft.frontend.syntax.base import Node, node

if TYPE_CHECKING:
    from p4soft.check.symbols import Symbol
    from p4soft.check.types import Type


@node
class TypeSyntax(Node):
    pass


@node
class BaseType(TypeSyntax):
    """bool, error, string, void, match_kind; bit, int, varbit with `width` (None: bit is 1 wide,
    int is unbounded).
    """

    keyword: str
    width: Expression | None = None


@node
class NamedType(TypeSyntax):
    name: str
    arguments: list[TypeSyntax] | None = None


@node
class StackType(TypeSyntax):
    element: TypeSyntax
    size: Expression


@node
class TupleSyntax(TypeSyntax):
    elements: list[TypeSyntax]


@node
class DontCareType(TypeSyntax):
    pass


@node
class Expression(Node):
    type: Type | None = field(default=None, init=False, repr=False)
    value: Any = field(default=None, init=False, repr=False)  # of compile-time constants
    # What stands in the program, where `value` is what its type has room for.
    cut_from: int | None = field(default=None, init=False, repr=False)


@node
class IntegerLiteral(Expression):
    number: int
    width: int | None
    signed: bool
    base: int = field(default=10, init=False, repr=False)  # in which it is written


@node
class BoolLiteral(Expression):
    truth: bool


@node
class StringLiteral(Expression):
    text: str


@node
class Name(Expression):
    name: str
    is_global: bool = False  # written with a leading dot
    symbol: Symbol | None = field(default=None, init=False, repr=False)


@node
class TypeExpression(Expression):
    """A type where an expression stands: `E.member`, `T.minSizeInBits()`, a constructor call."""

    syntax: TypeSyntax


@node
class Member(Expression):
    base: Expression
    name: str
    name_position: Position  # `position` is that of the whole expression


@node
class Index(Expression):
    base: Expression
    index: Expression


@node
class Slice(Expression):
    base: Expression
    high: Expression
    low: Expression


@node
class Unary(Expression):
    operator: str
    operand: Expression


@node
class Binary(Expression):
    operator: str
    left: Expression
    right: Expression


@node
class Conditional(Expression):
    condition: Expression
    then: Expression
    otherwise: Expression


@node
class Cast(Expression):
    target: TypeSyntax
    operand: Expression


@node
class Argument(Node):
    name: str | None
    expression: Expression


@node
class Call(Expression):
    callee: Expression
    type_arguments: list[TypeSyntax] | None
    arguments: list[Argument]
    target: Any = field(default=None, init=False, repr=False)  # check.symbols.Target


@node
class ListExpression(Expression):
    items: list[Expression]


@node
class StructExpression(Expression):
    items: list[Argument]


@node
class RangeExpression(Expression):
    low: Expression
    high: Expression


@node
class MaskExpression(Expression):
    base: Expression
    mask: Expression


@node
class DefaultExpression(Expression):
    """`default` or `_` in a key set, `_` as an argument."""
