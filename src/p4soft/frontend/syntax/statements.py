"""Statements, and the declarations that may stand among them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from p4soft.frontend.syntax.base import Annotation, Node, node
from p4soft.frontend.syntax.expressions import Argument, Call, Expression, TypeSyntax

if TYPE_CHECKING:
    from p4soft.frontend.syntax.declarations import Function


@node
class Statement(Node):
    pass


@node
class Block(Statement):
    statements: list[Statement]


@node
class Assignment(Statement):
    target: Expression
    value: Expression


@node
class CallStatement(Statement):
    call: Call


@node
class If(Statement):
    condition: Expression
    then: Statement
    otherwise: Statement | None


@node
class SwitchCase(Node):
    labels: list[Expression]
    body: Block | None  # None: falls through to the next case


@node
class Switch(Statement):
    subject: Expression
    cases: list[SwitchCase]


@node
class Return(Statement):
    value: Expression | None


@node
class Exit(Statement):
    pass


@node
class Empty(Statement):
    pass


@node
class Variable(Statement):
    name: str
    declared: TypeSyntax
    initializer: Expression | None
    annotations: list[Annotation]
    symbol: Any = field(default=None, init=False, repr=False)


@node
class Constant(Statement):
    name: str
    declared: TypeSyntax
    initializer: Expression


@node
class Instantiation(Statement):
    name: str
    declared: TypeSyntax
    arguments: list[Argument]
    annotations: list[Annotation]
    methods: list[Function] | None  # abstract methods, in braces
    symbol: Any = field(default=None, init=False, repr=False)
