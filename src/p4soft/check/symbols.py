"""What names stand for, and scopes."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import Any

from p4soft.check.types import Type
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax


@dataclass(eq=False)
class Symbol:
    name: str
    position: Position


@dataclass(eq=False)
class VariableSymbol(Symbol):
    """A variable, parameter or constant."""

    type: Type
    # parameter | action_data | local (of a block) | member (of a control or parser) | constant |
    # constructor
    role: str
    direction: str = "inout"
    value: Any = None
    default: syntax.Expression | None = None
    optional: bool = False
    initializer: syntax.Expression | None = None  # of a constant that is a struct, header or tuple
    base: int = 10  # in which a constant's number is written

    @property
    def writable(self) -> bool:
        return (
            self.role not in ("constant", "constructor", "action_data") and self.direction != "in"
        )


@dataclass(eq=False)
class TypeSymbol(Symbol):
    type: Type


@dataclass(eq=False)
class FunctionSymbol(Symbol):
    """A function or extern function: all overloads of one name."""

    overloads: list[Callable]


@dataclass(eq=False)
class ActionSymbol(Symbol):
    declaration: syntax.Action
    parameters: list[VariableSymbol]
    owner: syntax.Control | None  # None: declared at the top level

    @property
    def data(self) -> list[VariableSymbol]:
        return [p for p in self.parameters if p.role == "action_data"]

    @property
    def directed(self) -> list[VariableSymbol]:
        return [p for p in self.parameters if p.role != "action_data"]


@dataclass(eq=False)
class TableSymbol(Symbol):
    declaration: syntax.Table
    type: Type


@dataclass(eq=False)
class ValueSetSymbol(Symbol):
    declaration: syntax.ValueSet
    fields: dict[str, Type]  # of a value; that of one without fields is called f1
    size: int


@dataclass(eq=False)
class InstanceSymbol(Symbol):
    """An extern object, a parser, a control or a package instance."""

    declaration: syntax.Instantiation
    type: Type
    arguments: list[syntax.Expression | None] = field(default_factory=list)
    constructor: syntax.Function | None = None  # of an extern


@dataclass(eq=False)
class Callable:
    """A signature. `declaration` is where it comes from; type parameters appear in the types as
    Variable.
    """

    name: str
    type_parameters: list[str]
    parameters: list[VariableSymbol]
    returns: Type
    declaration: syntax.Function


@dataclass(eq=False)
class Target:
    """What a call calls, decided by the checker.

    kind: function | extern_function | method (of an extern) | constructor | action | table |
    control | parser | builtin (isValid, setValid, setInvalid, push_front, pop_front, minSizeInBits,
    ...)
    """

    kind: str
    name: str
    symbol: Any = None  # the Symbol, Callable or type
    base: syntax.Expression | None = None  # of methods and builtins
    parameters: list[VariableSymbol] = field(default_factory=list)
    arguments: list[syntax.Expression | None] = field(
        default_factory=list
    )  # in the parameters' order


class Scope:
    """Names of one block, and where to look further."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self._symbols: dict[str, Symbol] = {}

    def declare(self, symbol: Symbol) -> None:
        previous = self._symbols.get(symbol.name)
        if previous is not None:
            raise P4Error(
                symbol.position, f"'{symbol.name}' is declared already, at {previous.position}"
            )
        self._symbols[symbol.name] = symbol

    def local(self, name: str) -> Symbol | None:
        return self._symbols.get(name)

    def lookup(self, name: str) -> Symbol | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope._symbols:
                return scope._symbols[name]
            scope = scope.parent
        return None

    def names(self) -> list[str]:
        return [*self._symbols, *(self.parent.names() if self.parent else [])]

    def require(self, name: str, position: Position, is_global: bool = False) -> Symbol:
        """is_global: with a leading dot, which asks the outermost scope."""
        symbol = self.lookup(name)
        if is_global:
            return self._global(name, position, symbol)
        if symbol is None:
            raise P4Error(position, f"'{name}' is not declared{near(name, self.names())}")
        return symbol

    def _global(self, name: str, position: Position, seen: Symbol | None) -> Symbol:
        """seen: what the name means here without the dot."""
        outermost = self
        while outermost.parent is not None:
            outermost = outermost.parent
        symbol = outermost.local(name)
        if symbol is None:
            there = near(name, outermost.names())
            raise P4Error(position, f"'.{name}' is not declared at the top level{there}")
        if seen is not symbol:
            assert seen is not None
            raise unsupported(
                position,
                f"'.{name}' where another '{name}' is declared, at {seen.position}",
                "another name for one of them",
            )
        return symbol


def near(name: str, names: list[str]) -> str:
    """`; did you mean 'x'?`, or nothing."""
    close = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""
