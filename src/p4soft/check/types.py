"""Semantic types. Structural ones compare by value; named ones (headers, structs, enums, externs)
by identity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from p4soft.frontend import syntax

MAX_WIDTH = 128  # of bit<W> and int<W>: what the C++ runtime computes in
MAX_FIELD_WIDTH = 4096  # of a header's field: all containers of a pipe's packet headers together


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
    # Of a field or (name "") of the whole: "flexible", "padding", "packed".
    marks: set[tuple[str, str]] = field(default_factory=set)

    def __str__(self) -> str:
        return self.name

    @property
    def is_header(self) -> bool:
        return self.keyword == "header"

    @property
    def is_flexible(self) -> bool:
        """Whether @flexible stands at it, at a field or at a struct among the fields."""
        inner = any(isinstance(t, Composite) and t.is_flexible for t in self.fields.values())
        return inner or any(mark == "flexible" for _, mark in self.marks)


@dataclass(eq=False)
class Wide(Composite):
    """bit<W> of more than MAX_WIDTH bits: a header's field that is taken, copied, compared and sent
    as a whole; nothing is computed with it.
    """

    def __str__(self) -> str:
        return f"bit<{width_of(self)}>"


def wide(width: int) -> Wide:
    parts: dict[str, Type] = {}
    for high in range(width, 0, -MAX_WIDTH):
        low = max(high - MAX_WIDTH, 0)
        parts[f"bits_{high - 1}_{low}"] = Bit(high - low)
    return Wide("struct", f"wide_{width}", parts)


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


class WireField(NamedTuple):
    """A scalar of a header on the wire; `padding` is the bits of zero before it."""

    path: tuple[str, ...]  # its name, and those of the structs around it inside the header
    type: Type
    padding: int


def wire_fields(header: Composite) -> list[WireField]:
    """In order. With @flexible each field ends at the end of a byte, as the Tofino compiler's
    middle end lays it out; padding that the program gives counts, and a @packed field stays.
    """
    result = []
    given = 0  # bits of @padding before the field
    for path, type_, marks in _fields(header, ()):
        width = width_of(type_) or 0
        padding = 0
        if "padding" in marks:
            given += width
        elif header.is_flexible and "packed" not in marks:
            padding = -(given + width) % 8
            given = 0
        # What is before a wide field is before the first of its parts.
        parts = type_.fields.items() if isinstance(type_, Wide) else [("", type_)]
        for part, part_type in parts:
            result.append(WireField((*path, part) if part else path, part_type, padding))
            padding = 0
    return result


def _fields(
    composite: Composite, outer: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Type, set[str]]]:
    for name, type_ in composite.fields.items():
        if isinstance(type_, Composite) and not isinstance(type_, Wide):
            yield from _fields(type_, (*outer, name))
        elif not isinstance(type_, Varbit):
            yield (*outer, name), type_, {mark for f, mark in composite.marks if f == name}


def underlying(type_: Type) -> Type:
    """The representation: of a serializable enum or a distinct type, its base."""
    if isinstance(type_, Distinct):
        return underlying(type_.base)
    if isinstance(type_, Enum) and type_.base is not None:
        return type_.base
    return type_


def width_of(type_: Type) -> int | None:
    """Bits on the wire, or None if the type has no fixed layout. Of a header with a varbit field
    what is before that.
    """
    type_ = underlying(type_)
    if isinstance(type_, (Bit, Int)):
        return type_.width
    if type_ == BOOL:
        return 1
    if isinstance(type_, Stack):
        return type_.size * (width_of(type_.element) or 0)
    parts: list[Type] | None = None
    if isinstance(type_, Composite) and type_.is_header:
        return sum(part.padding + (width_of(part.type) or 0) for part in wire_fields(type_))
    if isinstance(type_, Composite):
        parts = list(type_.fields.values())
    elif isinstance(type_, (Tuple, ListOf, RecordOf)):
        parts = list(type_.elements)
    if parts is None:
        return None
    widths = [width_of(part) for part in parts]
    return None if any(w is None for w in widths) else sum(w for w in widths if w is not None)


def varbit_of(type_: Type) -> tuple[str, Varbit] | None:
    """The last field of a header, if it is one."""
    if not isinstance(type_, Composite) or not type_.is_header or not type_.fields:
        return None
    name, last = list(type_.fields.items())[-1]
    base = underlying(last)
    return (name, base) if isinstance(base, Varbit) else None


def most_bits(type_: Type) -> int:
    """Of a header, or of those of a struct or stack, on the wire."""
    if isinstance(type_, Stack):
        return type_.size * most_bits(type_.element)
    if isinstance(type_, Composite) and not type_.is_header:
        return sum(map(most_bits, type_.fields.values()))
    varbit = varbit_of(type_)
    return (width_of(type_) or 0) + (varbit[1].width if varbit else 0)


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
