"""Calls: which declaration is meant, its arguments, and type arguments."""

from __future__ import annotations

from p4soft.check import types
from p4soft.check.conversion import Bindings, convert, infer, settle, substitute
from p4soft.check.direct_calls import is_block, is_controllable
from p4soft.check.expressions import ExpressionChecker
from p4soft.check.symbols import (
    ActionSymbol,
    Callable,
    FunctionSymbol,
    InstanceSymbol,
    TableSymbol,
    Target,
    VariableSymbol,
    near,
)
from p4soft.check.types import BOOL, INTEGER, VOID, Composite, Generic, Stack, Type
from p4soft.errors import P4Error, Position
from p4soft.frontend import syntax

# A constant whose type argument is left out (`Register<bit<8>, _>`), for instance an index.
_OF_UNKNOWN_WIDTH = types.Bit(32)
_HEADER_METHODS = {"isValid": BOOL, "setValid": VOID, "setInvalid": VOID}
_STACK_METHODS = ("push_front", "pop_front")
_SIZE_FUNCTIONS = ("sizeInBits", "sizeInBytes")
_SIZE_METHODS = ("minSizeInBits", "minSizeInBytes", "maxSizeInBits", "maxSizeInBytes")


class CallChecker(ExpressionChecker):
    def check_call(self, call: syntax.Call) -> Type:
        callee = call.callee
        if isinstance(callee, syntax.TypeExpression):
            return self._constructor(call, callee)
        if isinstance(callee, syntax.Name):
            return self._call_by_name(call, callee)
        if isinstance(callee, syntax.Member):
            return self._method(call, callee)
        raise P4Error(call.position, "this expression cannot be called")

    # --- Kinds of callees -------------------------------------------------------------------------

    def _call_by_name(self, call: syntax.Call, callee: syntax.Name) -> Type:
        symbol = self.scope.require(callee.name, callee.position, callee.is_global)
        callee.symbol = symbol
        if isinstance(symbol, ActionSymbol):
            arguments = self.bind(
                symbol.parameters, call.arguments, call.position, f"action '{symbol.name}'"
            )
            self.check_arguments(symbol.parameters, arguments, f"action '{symbol.name}'")
            call.target = Target("action", symbol.name, symbol, None, symbol.parameters, arguments)
            return VOID
        if isinstance(symbol, FunctionSymbol):
            kind = (
                "function"
                if symbol.overloads[0].declaration.body is not None
                else "extern_function"
            )
            type_ = self._signature(call, kind, symbol.overloads, {}, None)
            if kind == "extern_function" and callee.name in _SIZE_FUNCTIONS:
                self._size_of_argument(call)
            return type_
        raise P4Error(callee.position, f"'{callee.name}' cannot be called")

    def _size_of_argument(self, call: syntax.Call) -> None:
        """sizeInBits and sizeInBytes are constants."""
        [argument] = call.target.arguments
        width = types.width_of(argument.type)
        if width is None:
            raise P4Error(argument.position, f"{argument.type} has no fixed size")
        call.value = width if call.target.name == "sizeInBits" else (width + 7) // 8

    def _constructor(self, call: syntax.Call, callee: syntax.TypeExpression) -> Type:
        type_ = self.resolve(callee.syntax)
        if not isinstance(type_, Generic):
            raise P4Error(call.position, f"type {type_} has no constructor")
        type_, arguments, constructor = self.construct(type_, call.arguments, call.position)
        call.target = Target("constructor", type_.name, constructor, None, [], arguments)
        callee.type = type_
        return type_

    def _method(self, call: syntax.Call, callee: syntax.Member) -> Type:
        base = callee.base
        if isinstance(base, syntax.TypeExpression):
            return self._method_of_type(call, callee, base)
        type_ = self.check(base)
        if isinstance(type_, types.TableType):
            return self._table_apply(call, callee, type_)
        if isinstance(type_, Generic):
            return self._method_of_instance(call, callee, type_)
        if isinstance(type_, (Composite, Stack)) and callee.name in _SIZE_METHODS:
            return self._size(call, callee, type_)
        if isinstance(type_, Composite) and type_.is_header and callee.name in _HEADER_METHODS:
            self.bind([], call.arguments, call.position, callee.name)
            if callee.name != "isValid":
                self.check_place(base, f"the header of {callee.name}()")
            call.target = Target("builtin", callee.name, type_, base)
            return _HEADER_METHODS[callee.name]
        if isinstance(type_, Stack) and callee.name in _STACK_METHODS:
            self.check_place(base, f"the stack of {callee.name}()")
            if len(call.arguments) != 1:
                raise P4Error(
                    call.position, f"{callee.name} takes 1 argument, {len(call.arguments)} given"
                )
            self.constant_integer(call.arguments[0].expression, f"the argument of {callee.name}")
            call.target = Target(
                "builtin", callee.name, type_, base, [], [call.arguments[0].expression]
            )
            return VOID
        raise P4Error(callee.name_position, f"{type_} has no method '{callee.name}'")

    def _method_of_type(
        self, call: syntax.Call, callee: syntax.Member, base: syntax.TypeExpression
    ) -> Type:
        type_ = self.resolve(base.syntax)
        if callee.name in _SIZE_METHODS:
            return self._size(call, callee, type_)
        if callee.name == "apply" and is_block(type_):
            callee.base = self._instance_of_call(type_, callee.position)
            return self._method_of_instance(call, callee, callee.base.type)
        raise P4Error(callee.name_position, f"type {type_} has no method '{callee.name}'")

    def _instance_of_call(self, type_: Generic, position: Position) -> syntax.Name:
        """`Type.apply(...)` is `Type() Type;` and `Type.apply(...)` (P4-16 specification,
        15.1): each call has an instance of its own, named as the type.
        """
        if self.owner is None:
            raise P4Error(
                position,
                f"a function outside of all controls and parsers cannot apply '{type_.name}'",
            )
        name = type_.name
        earlier = [
            local
            for local in self.owner.locals
            if isinstance(local, syntax.Instantiation) and local.name == name
        ]
        if earlier and is_controllable(type_):
            raise P4Error(
                position,
                f"'{name}' is applied by its type here and at {earlier[0].position}: both are "
                f"'{name}' to the control plane; declare instances, `{name}() a;`, and apply these",
            )
        full, arguments, _ = self.construct(type_, [], position)
        declared = syntax.NamedType(position, name)
        instance = syntax.Instantiation(position, name, declared, [], [], None)
        instance.symbol = InstanceSymbol(name, position, instance, full, arguments)
        self.owner.locals.append(instance)
        use = syntax.Name(position, name)
        use.symbol, use.type = instance.symbol, full
        return use

    def _size(self, call: syntax.Call, callee: syntax.Member, type_: Type) -> Type:
        width = types.width_of(type_)
        if width is None:
            raise P4Error(callee.name_position, f"{type_} has no fixed size")
        if callee.name.startswith("max"):
            width = types.most_bits(type_)
        call.value = width if callee.name.endswith("Bits") else (width + 7) // 8
        call.target = Target("builtin", callee.name, type_)
        return INTEGER

    def _table_apply(
        self, call: syntax.Call, callee: syntax.Member, type_: types.TableType
    ) -> Type:
        if callee.name != "apply":
            raise P4Error(
                callee.name_position, f"a table has no method '{callee.name}'; expected apply"
            )
        if self.in_action:
            raise P4Error(call.position, "an action cannot apply a table")
        self.bind([], call.arguments, call.position, "apply")
        assert isinstance(callee.base, syntax.Name) and isinstance(callee.base.symbol, TableSymbol)
        call.target = Target("table", callee.base.symbol.name, callee.base.symbol)
        return types.ApplyResult(type_.declaration)

    def _method_of_instance(self, call: syntax.Call, callee: syntax.Member, type_: Generic) -> Type:
        declaration = type_.declaration
        if isinstance(declaration, (syntax.Control, syntax.Parser)):
            kind = "control" if isinstance(declaration, syntax.Control) else "parser"
            if callee.name != "apply":
                raise P4Error(
                    callee.name_position, f"a {kind} has no method '{callee.name}'; expected apply"
                )
            if self.in_action:
                raise P4Error(call.position, f"an action cannot apply a {kind}")
            if self.owner is not None and type(self.owner) is not type(declaration):
                other = "parser" if kind == "control" else "control"
                raise P4Error(call.position, f"a {other} cannot apply a {kind}")
            parameters = [p.symbol for p in declaration.parameters]
            arguments = self.bind(
                parameters, call.arguments, call.position, f"{kind} '{type_.name}'"
            )
            self.check_arguments(parameters, arguments, f"{kind} '{type_.name}'")
            assert isinstance(callee.base, syntax.Name)
            call.target = Target(
                kind, "apply", callee.base.symbol, callee.base, parameters, arguments
            )
            return VOID
        assert isinstance(declaration, syntax.Extern)
        overloads = [m.symbol for m in declaration.methods if m.name == callee.name and m.returns]
        if not overloads:
            names = [m.name for m in declaration.methods if m.returns]
            raise P4Error(
                callee.name_position,
                f"{type_} has no method '{callee.name}'{near(callee.name, names)}",
            )
        bindings = dict(zip(declaration.type_parameters, type_.arguments, strict=True))
        return self._signature(call, "method", overloads, bindings, callee.base)

    # --- Signatures -------------------------------------------------------------------------------

    def _signature(
        self,
        call: syntax.Call,
        kind: str,
        overloads: list[Callable],
        outer: Bindings,
        base: syntax.Expression | None,
    ) -> Type:
        chosen = self._overload(call, overloads)
        what = f"'{chosen.name}'"
        arguments = self.bind(chosen.parameters, call.arguments, call.position, what)
        bindings = dict(outer)
        if call.type_arguments is not None:
            if len(call.type_arguments) != len(chosen.type_parameters):
                raise P4Error(
                    call.position,
                    f"{what} takes {len(chosen.type_parameters)} type arguments, "
                    f"{len(call.type_arguments)} given",
                )
            for name, written in zip(chosen.type_parameters, call.type_arguments, strict=True):
                bindings[name] = self.resolve(written)
        self.check_arguments(chosen.parameters, arguments, what, bindings)
        returns = substitute(chosen.returns, bindings)
        if isinstance(returns, types.Variable):
            raise P4Error(
                call.position,
                f"the type argument {returns} of {what} is not known; write "
                f"{chosen.name}<...>(...)",
            )
        call.target = Target(kind, chosen.name, chosen, base, chosen.parameters, arguments)
        return returns

    def _overload(self, call: syntax.Call, overloads: list[Callable]) -> Callable:
        given = len(call.arguments)
        named = {argument.name for argument in call.arguments if argument.name is not None}
        for candidate in overloads:
            by_name = candidate.parameters[given - len(named) :]
            required = {p.name for p in by_name if not p.optional and p.default is None}
            if given <= len(candidate.parameters) and required <= named <= {
                p.name for p in by_name
            }:
                return candidate
        counts = " or ".join(sorted({str(len(c.parameters)) for c in overloads}))
        raise P4Error(
            call.position, f"'{overloads[0].name}' takes {counts} arguments, {given} given"
        )

    def bind(
        self,
        parameters: list[VariableSymbol],
        given: list[syntax.Argument],
        position: Position,
        what: str,
    ) -> list[syntax.Expression | None]:
        """Arguments in the order of the parameters; None where an optional one is left out."""
        result: list[syntax.Expression | None] = [None] * len(parameters)
        places = {parameter.name: i for i, parameter in enumerate(parameters)}
        if len(given) > len(parameters):
            raise P4Error(position, f"{what} takes {len(parameters)} arguments, {len(given)} given")
        named = [argument for argument in given if argument.name is not None]
        if named and len(named) < len(given):
            raise P4Error(
                named[0].position,
                f"{what} has arguments with and without names; expected names for all or for none",
            )
        for i, argument in enumerate(given):
            if argument.name is not None and argument.name not in places:
                raise P4Error(
                    argument.position,
                    f"{what} has no parameter '{argument.name}'{near(argument.name, list(places))}",
                )
            place = i if argument.name is None else places[argument.name]
            if result[place] is not None:
                raise P4Error(argument.position, f"argument '{argument.name}' is given twice")
            result[place] = argument.expression
        for i, parameter in enumerate(parameters):
            if result[i] is None:
                result[i] = parameter.default
            if result[i] is None and not parameter.optional:
                raise P4Error(position, f"{what} needs an argument for '{parameter.name}'")
        return result

    def check_arguments(
        self,
        parameters: list[VariableSymbol],
        arguments: list[syntax.Expression | None],
        what: str,
        bindings: Bindings | None = None,
    ) -> None:
        """Checks directions and types; binds type parameters in `bindings`."""
        bindings = {} if bindings is None else bindings
        for parameter, argument in zip(parameters, arguments, strict=True):
            if argument is None:
                continue
            if parameter.direction in ("out", "inout") and not isinstance(
                argument, syntax.DefaultExpression
            ):
                self.check_place(argument, f"the argument for '{parameter.name}' of {what}")
            else:
                self.check(argument)
            assert argument.type is not None
            infer(parameter.type, argument.type, bindings)
        for parameter, argument in zip(parameters, arguments, strict=True):
            if argument is None:
                continue
            expected = substitute(parameter.type, bindings)
            if expected == types.ANY != parameter.type and argument.type == INTEGER:
                expected = _OF_UNKNOWN_WIDTH
            convert(argument, expected, f"the argument for '{parameter.name}' of {what}")
            is_generic = isinstance(parameter.type, types.Variable) or parameter.type == types.ANY
            if is_generic and not isinstance(argument.type, Composite):
                settle(argument)

    def construct(
        self, type_: Generic, given: list[syntax.Argument], position: Position
    ) -> tuple[Generic, list[syntax.Expression | None], Callable | None]:
        """The instance's full type, its constructor's arguments, and an extern's constructor."""
        declaration = type_.declaration
        constructor: Callable | None = None
        if isinstance(declaration, syntax.Extern):
            overloads = [m.symbol for m in declaration.methods if m.returns is None]
            call = syntax.Call(position, syntax.Name(position, declaration.name), None, given)
            constructor = self._overload(call, overloads)
            parameters = constructor.parameters
        elif isinstance(declaration, syntax.Package):
            parameters = [p.symbol for p in declaration.parameters]
        else:
            parameters = [p.symbol for p in declaration.constructor]
        arguments = self.bind(parameters, given, position, f"'{declaration.name}'")
        if isinstance(declaration, (syntax.Control, syntax.Parser)):
            self._require_all(parameters, arguments, position, declaration.name)
        bindings = {
            name: argument
            for name, argument in zip(declaration.type_parameters, type_.arguments, strict=True)
            if argument != types.ANY
        }
        if isinstance(declaration, syntax.Package):
            self.check_blocks(parameters, arguments, bindings)
        else:
            self.check_arguments(parameters, arguments, f"'{declaration.name}'", bindings)
        full = tuple(bindings.get(name, types.ANY) for name in declaration.type_parameters)
        return Generic(declaration, full), arguments, constructor

    def _require_all(
        self,
        parameters: list[VariableSymbol],
        arguments: list[syntax.Expression | None],
        position: Position,
        block: str,
    ) -> None:
        """What it means to leave an @optional one out says the architecture, and only of its own
        packages and externs.
        """
        for parameter, argument in zip(parameters, arguments, strict=True):
            if argument is None:
                raise P4Error(
                    position,
                    f"'{block}' has no value for its constructor's @optional parameter "
                    f"'{parameter.name}'; give an argument, or a default value where it is "
                    f"declared ({parameter.type} {parameter.name} = ...)",
                )

    def check_blocks(
        self,
        parameters: list[VariableSymbol],
        arguments: list[syntax.Expression | None],
        bindings: Bindings,
    ) -> None:
        """The arguments of a package; in check.packages."""
        raise NotImplementedError
