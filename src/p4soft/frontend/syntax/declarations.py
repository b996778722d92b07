"""Declarations: types, functions, externs, tables, parsers, controls, packages."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from p4soft.errors import Position
from p4soft.frontend.syntax.base import Annotation, Node, node
from p4soft.frontend.syntax.expressions import Argument, Expression, TypeSyntax
from p4soft.frontend.syntax.statements import Block, Statement


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
    """A function, a method, or (returns None) a constructor of an extern. `body` is None where only
    declared.
    """

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
    match_kind: str  # as the program says it
    annotations: list[Annotation]

    @property
    def matches(self) -> str:
        """What the kind means: the partition of an algorithmic TCAM is found by its number."""
        return "exact" if self.match_kind == "atcam_partition_index" else self.match_kind


@node
class ActionReference(Node):
    name: str
    arguments: list[Argument] | None
    annotations: list[Annotation]
    is_global: bool = False  # written with a leading dot
    symbol: Any = field(default=None, init=False, repr=False)
    values: list[Any] = field(
        default_factory=list, init=False, repr=False
    )  # of control-plane parameters


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

    @property
    def match_keys(self) -> list[TableKey]:
        """Those that an entry has values for."""
        return [key for key in self.keys if key.match_kind != "selector"]

    @property
    def selector_keys(self) -> list[TableKey]:
        """Those by which a member of a group is chosen."""
        return [key for key in self.keys if key.match_kind == "selector"]

    def property(self, name: str) -> Property | None:
        return next((p for p in self.properties if p.name == name), None)


@node
class ValueSet(Statement):
    """Of a parser: values of a select case that the control plane gives."""

    name: str
    declared: TypeSyntax  # of a value
    size: Expression
    annotations: list[Annotation]
    symbol: Any = field(default=None, init=False, repr=False)


@node
class SelectCase(Node):
    keys: list[Expression]  # empty once the checker has found a value set in their place
    state: str
    value_set: Any = field(default=None, init=False, repr=False)  # its symbol


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
    annotations: list[Annotation]  # all, wherever they stand
