"""Type syntax to types, and compile-time integers."""

from __future__ import annotations

from p4soft.check import types
from p4soft.check.symbols import Scope, TypeSymbol
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax

MAX_STACK = 64


class TypeResolver:
    """The state every part of the checker shares, and types."""

    def __init__(self) -> None:
        self.scope = Scope()
        self.errors: dict[str, int] = {}
        self.match_kinds: set[str] = set()
        self.owner: syntax.Control | syntax.Parser | None = (
            None  # the control or parser being checked
        )
        self.in_action = False
        self.wide_types: dict[int, types.Wide] = {}

    def check(self, expression: syntax.Expression) -> types.Type:
        raise NotImplementedError

    def push(self) -> None:
        self.scope = Scope(self.scope)

    def pop(self) -> None:
        assert self.scope.parent is not None
        self.scope = self.scope.parent

    def constant_integer(self, expression: syntax.Expression, what: str) -> int:
        self.check(expression)
        value = expression.value
        if isinstance(value, bool) or not isinstance(value, int):
            raise P4Error(expression.position, f"{what} must be a constant number")
        return value

    # --- Types ------------------------------------------------------------------------------------

    def resolve_field(self, keyword: str, written: syntax.TypeSyntax) -> types.Type:
        """Only headers have fields wider than what is computed with."""
        if keyword == "header" and isinstance(written, syntax.BaseType) and written.width:
            width = self.constant_integer(written.width, f"the width of {written.keyword}")
            if written.keyword == "bit" and types.MAX_WIDTH < width <= types.MAX_FIELD_WIDTH:
                return self.wide_types.setdefault(width, types.wide(width))
        return self.resolve(written)

    def resolve(self, written: syntax.TypeSyntax) -> types.Type:
        if isinstance(written, syntax.BaseType):
            return self._base(written)
        if isinstance(written, syntax.NamedType):
            return self._named(written)
        if isinstance(written, syntax.TupleSyntax):
            return types.Tuple(tuple(self.resolve(e) for e in written.elements))
        if isinstance(written, syntax.StackType):
            return self._stack(written)
        assert isinstance(written, syntax.DontCareType)
        return types.ANY

    def _base(self, written: syntax.BaseType, lowest_bits: int = 1) -> types.Type:
        simple = {
            "bool": types.BOOL,
            "string": types.STRING,
            "void": types.VOID,
            "error": types.ERROR,
            "match_kind": types.MATCH_KIND,
        }
        if written.keyword in simple:
            return simple[written.keyword]
        if written.width is None:
            return types.INTEGER if written.keyword == "int" else types.Bit(1)
        width = self.constant_integer(written.width, f"the width of {written.keyword}")
        lowest = {"bit": lowest_bits, "int": 1, "varbit": 0}[written.keyword]
        if width < lowest:
            raise P4Error(
                written.width.position,
                f"{written.keyword}<{width}>: the smallest width is {lowest}",
            )
        if written.keyword == "varbit":
            return types.Varbit(width)
        if width > types.MAX_WIDTH:
            raise unsupported(
                written.position,
                f"{written.keyword}<{width}>",
                f"widths up to {types.MAX_WIDTH}, and bit<{types.MAX_FIELD_WIDTH}> as a header's "
                "field",
            )
        return types.Bit(width) if written.keyword == "bit" else types.Int(width)

    def _named(self, written: syntax.NamedType) -> types.Type:
        symbol = self.scope.require(written.name, written.position)
        if not isinstance(symbol, TypeSymbol):
            raise P4Error(written.position, f"'{written.name}' is not a type")
        type_ = symbol.type
        if isinstance(type_, types.Generic):
            return self._specialized(written, type_)
        if written.arguments is not None:
            raise P4Error(written.position, f"type '{written.name}' takes no type arguments")
        return type_

    def _specialized(self, written: syntax.NamedType, generic: types.Generic) -> types.Type:
        parameters = generic.declaration.type_parameters
        if not written.arguments:  # to be inferred, or there are none
            return types.Generic(generic.declaration, (types.ANY,) * len(parameters))
        if len(written.arguments) != len(parameters):
            remedy = "" if parameters else f"; write {written.name} without <...>"
            raise P4Error(
                written.position,
                f"'{written.name}' takes {len(parameters)} type arguments, "
                f"{len(written.arguments)} given{remedy}",
            )
        arguments = tuple(self._type_argument(argument) for argument in written.arguments)
        return types.Generic(generic.declaration, arguments)

    def _type_argument(self, written: syntax.TypeSyntax) -> types.Type:
        """An array of one cell may have an index of bit<0>."""
        if isinstance(written, syntax.BaseType):
            return self._base(written, lowest_bits=0)
        return self.resolve(written)

    def _stack(self, written: syntax.StackType) -> types.Type:
        element = self.resolve(written.element)
        if not isinstance(element, types.Composite) or not element.is_header:
            raise P4Error(
                written.element.position, f"a header stack of {element}; expected a header type"
            )
        size = self.constant_integer(written.size, "the size of a header stack")
        if not 1 <= size <= MAX_STACK:
            raise P4Error(
                written.size.position,
                f"a header stack of {size} elements; expected 1 to {MAX_STACK}",
            )
        return types.Stack(element, size)

    def check_field(self, keyword: str, type_: types.Type, position: Position) -> None:
        """What may be a field of a header or struct."""
        base = types.underlying(type_)
        plain = isinstance(base, (types.Bit, types.Int)) or base == types.BOOL
        if keyword == "header" and isinstance(base, types.Varbit):
            if base.width == 0 or base.width % 8 != 0:
                raise P4Error(position, f"a field of {base}; Tofino's headers are whole bytes")
            return
        if keyword == "header" and not (plain or _is_plain_struct(base)):
            raise P4Error(
                position,
                f"a header field of type {type_}; expected bit<W>, int<W>, bool, a serializable "
                "enum or a struct of them",
            )
        if keyword == "struct" and not (
            plain
            or isinstance(base, (types.Composite, types.Stack, types.Tuple, types.Enum))
            or base == types.ERROR
        ):
            raise P4Error(position, f"a struct field of type {type_} is not allowed")


def _is_plain_struct(type_: types.Type) -> bool:
    """A struct of bits, numbers, bool, serializable enums and such structs."""
    if not isinstance(type_, types.Composite) or type_.keyword != "struct":
        return False
    bases = [types.underlying(field) for field in type_.fields.values()]
    return all(
        isinstance(base, (types.Bit, types.Int)) or base == types.BOOL or _is_plain_struct(base)
        for base in bases
    )
