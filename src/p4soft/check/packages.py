"""Do a program's parsers and controls fit the blocks of a package?"""

from __future__ import annotations

from p4soft.check import types
from p4soft.check.conversion import Bindings, infer, same, substitute
from p4soft.check.symbols import VariableSymbol
from p4soft.check.tables import TableChecker
from p4soft.errors import P4Error
from p4soft.frontend import syntax


class PackageChecker(TableChecker):
    def check_blocks(
        self,
        parameters: list[VariableSymbol],
        arguments: list[syntax.Expression | None],
        bindings: Bindings,
    ) -> None:
        for parameter, argument in zip(parameters, arguments, strict=True):
            if argument is None:
                continue
            given = self.check(argument)
            expected = parameter.type
            assert isinstance(expected, types.Generic)
            if not isinstance(given, types.Generic):
                raise P4Error(
                    argument.position,
                    f"the argument for '{parameter.name}' is {given}, expected {expected.name}",
                )
            if isinstance(expected.declaration, syntax.Package):
                if given.declaration is not expected.declaration:
                    raise P4Error(
                        argument.position,
                        f"'{parameter.name}' is {given.name}, expected {expected.name}",
                    )
                infer(expected, given, bindings)
            else:
                self._block(parameter, argument, given, bindings)

    def _block(
        self,
        parameter: VariableSymbol,
        argument: syntax.Expression,
        given: types.Generic,
        bindings: Bindings,
    ) -> None:
        block, wanted = given.declaration, parameter.type.declaration  # type: ignore[attr-defined]
        if type(block) is not type(wanted):
            raise P4Error(
                argument.position,
                f"'{parameter.name}' of the pipeline is a {type(block).__name__.lower()} "
                f"({given.name}), "
                f"expected a {type(wanted).__name__.lower()}",
            )
        assert isinstance(block, (syntax.Parser, syntax.Control))
        own: Bindings = {}
        candidates = [p.symbol for p in wanted.parameters]
        for symbol in (p.symbol for p in block.parameters):
            match = self._take(candidates, symbol, own, given.name, wanted.name)
            if match.direction != symbol.direction:
                raise P4Error(
                    symbol.position,
                    f"parameter '{symbol.name}' of {given.name} is '{symbol.direction}', expected "
                    f"'{match.direction}'",
                )
        missing = next((c for c in candidates if not c.optional), None)
        if missing is not None:
            raise P4Error(
                argument.position,
                f"{given.name} lacks the parameter '{missing.name}' of {wanted.name}",
            )
        self._agree(parameter, own, bindings, argument, given.name)

    def _take(
        self,
        candidates: list[VariableSymbol],
        symbol: VariableSymbol,
        own: Bindings,
        block: str,
        wanted: str,
    ) -> VariableSymbol:
        """The first remaining parameter of the block's type that fits; optional ones before it are
        left out.
        """
        while candidates:
            candidate = candidates.pop(0)
            infer(candidate.type, symbol.type, own)
            if same(substitute(candidate.type, own), symbol.type):
                return candidate
            if not candidate.optional:
                raise P4Error(
                    symbol.position,
                    f"parameter '{symbol.name}' of {block} is {symbol.type}, expected "
                    f"{substitute(candidate.type, own)} ('{candidate.name}' of {wanted})",
                )
        raise P4Error(
            symbol.position, f"parameter '{symbol.name}' of {block} has no counterpart in {wanted}"
        )

    def _agree(
        self,
        parameter: VariableSymbol,
        own: Bindings,
        bindings: Bindings,
        argument: syntax.Expression,
        block: str,
    ) -> None:
        """The blocks of one pipeline must use the same header and metadata types."""
        expected = parameter.type
        assert isinstance(expected, types.Generic)
        for name, outer in zip(
            expected.declaration.type_parameters, expected.arguments, strict=True
        ):
            assert isinstance(outer, types.Variable)
            bound = bindings.setdefault(outer.name, own[name])
            if not same(bound, own[name]):
                raise P4Error(
                    argument.position,
                    f"{block} uses {own[name]} where an earlier block of the pipeline uses {bound}",
                )
