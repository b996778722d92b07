"""The syntax tree. Every node has a position; the checker fills `type`, `value` and `symbol` of expressions.

Nodes compare by identity: two equal-looking expressions at different places are different nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from p4soft.errors import Position

if TYPE_CHECKING:
    from p4soft.check.symbols import Symbol
    from p4soft.check.types import Type


def node(cls: type) -> type:
    return dataclass(eq=False, slots=True)(cls)


@node
class Node:
    position: Position


@node
class Annotation(Node):
    name: str
    arguments: list[Any]  # tokens as written


# --- Types ----------------------------------------------------------------------------------------------------------


@node
class TypeSyntax(Node):
    pass


@node
class BaseType(TypeSyntax):
    """bool, error, string, void, match_kind; bit, int, varbit with `width` (None: bit is 1 wide, int is unbounded)."""

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


# --- Expressions ----------------------------------------------------------------------------------------------------


@node
class Expression(Node):
    type: Type | None = field(default=None, init=False, repr=False)
    value: Any = field(default=None, init=False, repr=False)  # of compile-time constants


@node
class IntegerLiteral(Expression):
    number: int
    width: int | None
    signed: bool


@node
class BoolLiteral(Expression):
    truth: bool


@node
class StringLiteral(Expression):
    text: str


@node
class Name(Expression):
    name: str
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


# --- Statements -----------------------------------------------------------------------------------------------------


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


# --- Declarations ---------------------------------------------------------------------------------------------------


@node
class Parameter(Node):
    direction: str  # "", "in", "out" or "inout"
    declared: TypeSyntax
    name: str
    default: Expression | None
    annotations: list[Annotation]
    symbol: Any = field(default=None, init=False, repr=False)

    @property
    def optional(self) -> bool:
        return any(a.name == "optional" for a in self.annotations)


@node
class Field(Node):
    declared: TypeSyntax
    name: str
    annotations: list[Annotation]


@node
class Typedef(Statement):
    name: str
    declared: TypeSyntax
    distinct: bool  # `type`: a new type, not a name for the old one


@node
class Composite(Statement):
    """header, header_union or struct."""

    keyword: str
    name: str
    fields: list[Field]
    annotations: list[Annotation]


@node
class Enum(Statement):
    name: str
    base: TypeSyntax | None
    members: list[tuple[str, Expression | None, Position]]


@node
class Names(Statement):
    """`error {...}` or `match_kind {...}`."""

    keyword: str
    members: list[tuple[str, Position]]


@node
class Function(Statement):
    """A function, a method, or (returns None) a constructor of an extern. `body` is None where only declared."""

    name: str
    returns: TypeSyntax | None
    type_parameters: list[str]
    parameters: list[Parameter]
    body: Block | None
    annotations: list[Annotation]
    symbol: Any = field(default=None, init=False, repr=False)


@node
class Extern(Statement):
    name: str
    type_parameters: list[str]
    methods: list[Function]


@node
class Action(Statement):
    name: str
    parameters: list[Parameter]
    body: Block
    annotations: list[Annotation]
    symbol: Any = field(default=None, init=False, repr=False)


@node
class TableKey(Node):
    expression: Expression
    match_kind: str
    annotations: list[Annotation]


@node
class ActionReference(Node):
    name: str
    arguments: list[Argument] | None
    annotations: list[Annotation]
    symbol: Any = field(default=None, init=False, repr=False)
    values: list[Any] = field(default_factory=list, init=False, repr=False)  # of control-plane parameters


@node
class TableEntry(Node):
    priority: Expression | None
    keys: list[Expression]
    action: ActionReference


@node
class Property(Node):
    name: str
    constant: bool
    value: Expression


@node
class Table(Statement):
    name: str
    keys: list[TableKey]
    actions: list[ActionReference]
    default_action: ActionReference | None
    constant_default: bool
    entries: list[TableEntry] | None
    constant_entries: bool
    properties: list[Property]  # all others
    annotations: list[Annotation]
    symbol: Any = field(default=None, init=False, repr=False)

    def property(self, name: str) -> Property | None:
        return next((p for p in self.properties if p.name == name), None)


@node
class SelectCase(Node):
    keys: list[Expression]
    state: str


@node
class Select(Node):
    subjects: list[Expression]
    cases: list[SelectCase]


@node
class ParserState(Node):
    name: str
    statements: list[Statement]
    transition: Select | str | None  # None: `transition` absent, which means reject
    annotations: list[Annotation]


@node
class Parser(Statement):
    """A parser, or (states None) a parser type."""

    name: str
    type_parameters: list[str]
    parameters: list[Parameter]
    constructor: list[Parameter]
    locals: list[Statement]
    states: list[ParserState] | None
    annotations: list[Annotation]
    symbol: Any = field(default=None, init=False, repr=False)


@node
class Control(Statement):
    """A control, or (body None) a control type."""

    name: str
    type_parameters: list[str]
    parameters: list[Parameter]
    constructor: list[Parameter]
    locals: list[Statement]
    body: Block | None
    annotations: list[Annotation]
    symbol: Any = field(default=None, init=False, repr=False)


@node
class Package(Statement):
    name: str
    type_parameters: list[str]
    parameters: list[Parameter]


@node
class Program(Node):
    declarations: list[Statement]


def annotation(nodes: list[Annotation], name: str) -> Annotation | None:
    return next((a for a in nodes if a.name == name), None)
