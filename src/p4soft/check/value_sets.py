"""Value sets: what a parser's select compares with, and the control plane may change."""

from __future__ import annotations

from p4soft.check import types
from p4soft.check.sizes import check_size, check_size_type
from p4soft.check.statements import StatementChecker
from p4soft.check.symbols import ValueSetSymbol
from p4soft.check.types import BOOL, Bit, Composite, Int, Type
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax

_ONLY_FIELD = "f1"  # as the compiler calls the value where it is no struct


class ValueSetChecker(StatementChecker):
    def declare_value_set(self, declaration: syntax.ValueSet) -> None:
        type_ = self.resolve(declaration.declared)
        fields = {_ONLY_FIELD: type_}
        if isinstance(type_, Composite) and type_.keyword == "struct":
            fields = dict(type_.fields)
        for field in fields.values():
            base = types.underlying(field)
            if not isinstance(base, (Bit, Int)) and base != BOOL:
                raise P4Error(
                    declaration.position,
                    f"a value set of {type_}; expected bit<W>, int<W>, bool, a serializable enum, "
                    "or a struct of these",
                )
        size = self.constant_integer(declaration.size, "the size of a value set")
        check_size_type(declaration.size, "a value set")
        check_size(size, "a value set", declaration.size.position)
        declaration.symbol = ValueSetSymbol(
            declaration.name, declaration.position, declaration, fields, size
        )
        self.scope.declare(declaration.symbol)

    def is_value_set(self, case: syntax.SelectCase, subjects: list[Type]) -> bool:
        """Whether a case of select is one, whose values have the types of what is selected."""
        symbols = [self._value_set(key) for key in case.keys]
        if not any(symbols):
            return False
        if len(symbols) > 1:
            raise unsupported(
                case.position,
                "a value set among the keys of a case",
                "one of a struct in their place",
            )
        (symbol,) = symbols
        assert symbol is not None
        fields = [types.underlying(field) for field in symbol.fields.values()]
        if fields != subjects:
            raise P4Error(
                case.position,
                f"value set '{symbol.name}' has values of ({_texts(fields)}); expected those of "
                f"what is selected, ({_texts(subjects)})",
            )
        case.value_set, case.keys = symbol, []
        return True

    def _value_set(self, key: syntax.Expression) -> ValueSetSymbol | None:
        if not isinstance(key, syntax.Name) or key.is_global:  # there are none at the top level
            return None
        symbol = self.scope.lookup(key.name)
        return symbol if isinstance(symbol, ValueSetSymbol) else None


def _texts(of: list[Type]) -> str:
    return ", ".join(map(str, of))
