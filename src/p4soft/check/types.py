"""Semantic types. Structural ones compare by value; named ones (headers, structs, enums, externs)
by identity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p4soft.frontend import syntax

MAX_WIDTH = 128  # of bit<W> and int<W>: what the C++ runtime computes in


class Type:
    pass


@dataclass(frozen=True)
class Bit(Type):
    width: int

    def __str__(self) -> str:
        return f"bit<{self.width}>"


@dataclass(frozen=True)
class Int(Type):
    width: int

    def __str__(self) -> str:
        return f"int<{self.width}>"


@dataclass(frozen=True)
class Varbit(Type):
    width: int

    def __str__(self) -> str:
        return f"varbit<{self.width}>"


@dataclass(frozen=True)
class Simple(Type):
    """Types without parts: int (unbounded), bool, string, void, error, match_kind."""

    name: str

    def __str__(self) -> str:
        return self.name


INTEGER = Simple("int")  # arbitrary precision; only constants have it
BOOL = Simple("bool")
STRING = Simple("string")
VOID = Simple("void")
ERROR = Simple("error")
MATCH_KIND = Simple("match_kind")
ANY = Simple("_")  # don't care: agrees with every type
PACKET_BITS = Simple("packet")  # internal: what a table's apply() result is compared with


@dataclass(frozen=True)
class Tuple(Type):
    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"tuple<{', '.join(map(str, self.elements))}>"


@dataclass(frozen=True)
class Stack(Type):
    element: Composite
    size: int

    def __str__(self) -> str:
        return f"{self.element}[{self.size}]"


@dataclass(eq=False)
class Composite(Type):
    """header, header_union or struct; fields in order."""

    keyword: str
    name: str
    fields: dict[str, Type]
    annotations: list[syntax.Annotation] = field(default_factory=list)

    def __str__(self) -> str:
        return self.name

    @property
    def is_header(self) -> bool:
        return self.keyword == "header"


@dataclass(eq=False)
class Enum(Type):
    """`base` is None unless serializable; members map to their value, or to their position."""

    name: str
    base: Bit | Int | None
    members: dict[str, int]

    def __str__(self) -> str:
        return self.name


@dataclass(eq=False)
class Distinct(Type):
    """`type T name`: converts to its base only by a cast."""

    name: str
    base: Type

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Variable(Type):
    """A type parameter, inside the declaration that introduces it."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Generic(Type):
    """An instance of an extern, package, parser type or control type: `Hash<bit<16>>`."""

    declaration: syntax.Extern | syntax.Package | syntax.Parser | syntax.Control
    arguments: tuple[Type, ...] = ()

    @property
    def name(self) -> str:
        return self.declaration.name

    def __str__(self) -> str:
        if not self.arguments:
            return self.name
        return f"{self.name}<{', '.join(map(str, self.arguments))}>"


@dataclass(eq=False)
class TableType(Type):
    declaration: syntax.Table

    def __str__(self) -> str:
        return f"table {self.declaration.name}"


@dataclass(eq=False)
class ApplyResult(Type):
    """What `t.apply()` returns: hit, miss, action_run."""

    table: syntax.Table

    def __str__(self) -> str:
        return f"result of {self.table.name}.apply()"


@dataclass(eq=False)
class ActionRun(Type):
    table: syntax.Table

    def __str__(self) -> str:
        return f"action_run of {self.table.name}"


@dataclass(frozen=True)
class ListOf(Type):
    """A list expression before its target is known: `{a, b}`."""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return "{" + ", ".join(map(str, self.elements)) + "}"


@dataclass(frozen=True)
class RecordOf(Type):
    """A `{x = a}` expression before its target is known."""

    names: tuple[str, ...]
    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return (
            "{"
            + ", ".join(f"{n} = {t}" for n, t in zip(self.names, self.elements, strict=True))
            + "}"
        )


def underlying(type_: Type) -> Type:
    """The representation: of a serializable enum or a distinct type, its base."""
    if isinstance(type_, Distinct):
        return underlying(type_.base)
    if isinstance(type_, Enum) and type_.base is not None:
        return type_.base
    return type_


def width_of(type_: Type) -> int | None:
    """Bits on the wire, or None if the type has no fixed layout."""
    type_ = underlying(type_)
    if isinstance(type_, (Bit, Int)):
        return type_.width
    if type_ == BOOL:
        return 1
    if isinstance(type_, Stack):
        return type_.size * (width_of(type_.element) or 0)
    parts: list[Type] | None = None
    if isinstance(type_, Composite):
        parts = list(type_.fields.values())
    elif isinstance(type_, (Tuple, ListOf, RecordOf)):
        parts = list(type_.elements)
    if parts is None:
        return None
    widths = [width_of(part) for part in parts]
    return None if any(w is None for w in widths) else sum(w for w in widths if w is not None)


def fits(value: int, type_: Bit | Int) -> bool:
    if isinstance(type_, Bit):
        return 0 <= value < 1 << type_.width
    return -(1 << type_.width - 1) <= value < 1 << type_.width - 1


def wrap(value: int, type_: Type) -> int:
    """The value modulo 2^W, in the range of a bit<W> or int<W>; other types do not bound it."""
    type_ = underlying(type_)
    if isinstance(type_, Bit):
        return value & (1 << type_.width) - 1
    if isinstance(type_, Int):
        half = 1 << type_.width - 1
        return (value + half) % (1 << type_.width) - half
    return value
