"""Top-level declarations, parsers and controls; the checker's entry point."""

from __future__ import annotations

from collections.abc import Callable as Function

from p4soft.check import types
from p4soft.check.packages import PackageChecker
from p4soft.check.symbols import (
    ActionSymbol,
    Callable,
    FunctionSymbol,
    Scope,
    TypeSymbol,
    VariableSymbol,
    near,
)
from p4soft.check.types import VOID, Composite, Enum, Generic, Type, Variable
from p4soft.check.value_sets import ValueSetChecker
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax


class ProgramChecker(PackageChecker, ValueSetChecker):
    def check_program(self, program: syntax.Program) -> Scope:
        for declaration in program.declarations:
            self._declare(declaration)
        return self.scope

    def _declare(self, declaration: syntax.Statement) -> None:
        handlers: dict[type, Function[..., object]] = {
            syntax.Constant: self.declare_constant,
            syntax.Typedef: self._typedef,
            syntax.Composite: self._composite,
            syntax.Enum: self._enum,
            syntax.Names: self._names,
            syntax.Function: self._function,
            syntax.Extern: self._extern,
            syntax.Parser: self._parser,
            syntax.Control: self._control,
            syntax.Package: self._package,
            syntax.Action: lambda a: self._action_declaration(a, None),
            syntax.Instantiation: self.declare_instance,
        }
        handler = handlers.get(type(declaration))
        if handler is None:
            raise P4Error(
                declaration.position,
                "a variable cannot be declared at the top level; expected a const",
            )
        handler(declaration)

    def _declare_type(self, declaration: syntax.Statement, name: str, type_: Type) -> None:
        self.scope.declare(TypeSymbol(name, declaration.position, type_))

    # --- Data types -------------------------------------------------------------------------------

    def _typedef(self, typedef: syntax.Typedef) -> None:
        base = self.resolve(typedef.declared)
        if typedef.distinct and types.width_of(base) is None:
            raise P4Error(typedef.position, f"`type` of {base}; expected bit<W>, int<W> or bool")
        self._declare_type(
            typedef, typedef.name, types.Distinct(typedef.name, base) if typedef.distinct else base
        )

    def _composite(self, composite: syntax.Composite) -> None:
        if composite.keyword == "header_union":
            raise unsupported(
                composite.position, "header_union", "headers, of which several may be invalid"
            )
        fields: dict[str, Type] = {}
        marks = {("", annotation.name) for annotation in composite.annotations}
        for item in composite.fields:
            if item.name in fields:
                raise P4Error(item.position, f"field '{item.name}' is declared twice")
            type_ = self.resolve_field(composite.keyword, item.declared)
            self.check_field(composite.keyword, type_, item.position)
            fields[item.name] = type_
            marks |= {(item.name, annotation.name) for annotation in item.annotations}
        for item in composite.fields[:-1]:
            if isinstance(types.underlying(fields[item.name]), types.Varbit):
                raise unsupported(
                    item.position, "a varbit field before others", "one, at the end of a header"
                )
        type_ = Composite(composite.keyword, composite.name, fields, marks)
        width = types.width_of(type_) if type_.is_header else 0
        if width is None or width % 8 != 0:
            raise P4Error(
                composite.position,
                f"header '{composite.name}' has {width} bits; Tofino's headers are whole bytes: "
                "add a @padding field, or mark a header that only the switch sees @flexible",
            )
        self._declare_type(composite, composite.name, type_)

    def _enum(self, enum: syntax.Enum) -> None:
        base = None if enum.base is None else types.underlying(self.resolve(enum.base))
        if base is not None and not isinstance(base, (types.Bit, types.Int)):
            raise P4Error(enum.position, f"an enum of {base}; expected bit<W> or int<W>")
        members: dict[str, int] = {}
        for name, written, position in enum.members:
            if name in members:
                raise P4Error(position, f"member '{name}' is declared twice")
            if (base is None) != (written is None):
                needs = (
                    "needs a value"
                    if base is not None
                    else "cannot have a value; write `enum bit<W>`"
                )
                raise P4Error(position, f"member '{name}' of enum '{enum.name}' {needs}")
            if written is None or base is None:
                members[name] = len(members)
            else:
                self.check_as(written, base, f"the value of '{name}'")
                if written.value is None:
                    raise P4Error(written.position, f"the value of '{name}' is not constant")
                if written.cut_from is not None:
                    raise P4Error(
                        written.position,
                        f"the value of '{name}', {written.cut_from}, does not fit in {base}",
                    )
                members[name] = written.value
        self._declare_type(enum, enum.name, Enum(enum.name, base, members))

    def _names(self, names: syntax.Names) -> None:
        for name, position in names.members:
            if name in self.errors or name in self.match_kinds:
                raise P4Error(position, f"{names.keyword} '{name}' is declared already")
            if names.keyword == "error":
                self.errors[name] = len(self.errors)
            else:
                self.match_kinds.add(name)

    # --- Functions and externs --------------------------------------------------------------------

    def _callable(self, function: syntax.Function) -> Callable:
        """The signature; type parameters must be in scope already or are the function's own."""
        self.push()
        for name in function.type_parameters:
            self.scope.declare(TypeSymbol(name, function.position, Variable(name)))
        parameters = self.parameters(function.parameters, "parameter")
        returns = VOID if function.returns is None else self.resolve(function.returns)
        self.pop()
        function.symbol = Callable(
            function.name, function.type_parameters, parameters, returns, function
        )
        return function.symbol

    def _function(self, function: syntax.Function) -> None:
        if function.body is not None and function.type_parameters:
            raise unsupported(
                function.position, "a generic function", "functions without type parameters"
            )
        signature = self._callable(function)
        existing = self.scope.local(function.name)
        if isinstance(existing, FunctionSymbol) and function.body is None:
            existing.overloads.append(signature)
        else:
            self.scope.declare(FunctionSymbol(function.name, function.position, [signature]))
        if function.body is not None:
            self.check_function_body(function)

    def _extern(self, extern: syntax.Extern) -> None:
        generic = Generic(extern, tuple(Variable(name) for name in extern.type_parameters))
        self._declare_type(extern, extern.name, generic)
        self.push()
        for name in extern.type_parameters:
            self.scope.declare(TypeSymbol(name, extern.position, Variable(name)))
        for method in extern.methods:
            self._callable(method)
        self.pop()

    def _package(self, package: syntax.Package) -> None:
        self._declare_block_type(package, [package.parameters])

    def _declare_block_type(
        self,
        declaration: syntax.Package | syntax.Parser | syntax.Control,
        lists: list[list[syntax.Parameter]],
    ) -> None:
        """Declares a package, parser or control as a type, and the symbols of its parameters."""
        generic = Generic(declaration, tuple(Variable(n) for n in declaration.type_parameters))
        self._declare_type(declaration, declaration.name, generic)
        self.push()
        for name in declaration.type_parameters:
            self.scope.declare(TypeSymbol(name, declaration.position, Variable(name)))
        for i, parameters in enumerate(lists):
            self.parameters(parameters, "parameter" if i == 0 else "constructor")
        self.pop()

    # --- Parsers ----------------------------------------------------------------------------------

    def _parser(self, parser: syntax.Parser) -> None:
        self._declare_block_type(parser, [parser.parameters, parser.constructor])
        if parser.states is None:
            return
        self._no_type_parameters(parser)
        self._enter(parser)
        for statement in parser.locals:
            self._member_declaration(statement)  # type: ignore[arg-type]
        names = [state.name for state in parser.states]
        if "start" not in names:
            raise P4Error(parser.position, f"parser '{parser.name}' has no state 'start'")
        for i, state in enumerate(parser.states):
            if state.name in names[:i] or state.name in ("accept", "reject"):
                raise P4Error(state.position, f"state '{state.name}' is declared already")
            self._state(state, [*names, "accept", "reject"])
        self._leave()

    def _state(self, state: syntax.ParserState, names: list[str]) -> None:
        self.push()
        for statement in state.statements:
            self.check_statement(statement)
        transition = state.transition
        if isinstance(transition, str):
            self._state_name(transition, state, names)
        elif transition is not None:
            self._select(transition, names)
        self.pop()

    def _select(self, select: syntax.Select, names: list[str]) -> None:
        subjects = [types.underlying(self.check(subject)) for subject in select.subjects]
        for subject, type_ in zip(select.subjects, subjects, strict=True):
            if not isinstance(type_, (types.Bit, types.Int, Enum)) and type_ != types.BOOL:
                raise P4Error(
                    subject.position, f"select over {type_}; expected bit<W>, bool or an enum"
                )
        for case in select.cases:
            if self.is_value_set(case, subjects):
                self._state_name(case.state, case, names)
                continue
            if len(case.keys) == 1 and isinstance(case.keys[0], syntax.DefaultExpression):
                case.keys = [syntax.DefaultExpression(case.position) for _ in subjects]
            if len(case.keys) != len(subjects):
                raise P4Error(
                    case.position,
                    f"this case has {len(case.keys)} keys, select has {len(subjects)}",
                )
            for key, type_ in zip(case.keys, subjects, strict=True):
                self.key_element(key, type_)
            self._state_name(case.state, case, names)

    def _state_name(self, name: str, at: syntax.Node, names: list[str]) -> None:
        if name not in names:
            raise P4Error(at.position, f"state '{name}' is not declared{near(name, names)}")

    # --- Controls ---------------------------------------------------------------------------------

    def _control(self, control: syntax.Control) -> None:
        self._declare_block_type(control, [control.parameters, control.constructor])
        if control.body is None:
            return
        self._no_type_parameters(control)
        self._enter(control)
        for statement in control.locals:
            if isinstance(statement, syntax.Action):
                self._action_declaration(statement, control)
            elif isinstance(statement, syntax.Table):
                self.declare_table(statement)
            else:
                self._member_declaration(statement)
        self.check_block(control.body)
        self._leave()

    def _no_type_parameters(self, block: syntax.Parser | syntax.Control) -> None:
        if block.type_parameters:
            raise unsupported(
                block.position,
                f"the generic '{block.name}'",
                "parsers and controls without type parameters",
            )

    def _enter(self, block: syntax.Parser | syntax.Control) -> None:
        self.owner = block
        self.push()
        for parameter in [*block.parameters, *block.constructor]:
            self.scope.declare(parameter.symbol)

    def _leave(self) -> None:
        self.pop()
        self.owner = None

    def _member_declaration(self, statement: syntax.Statement) -> None:
        if isinstance(statement, syntax.Variable):
            self.declare_variable(statement, "member")
        elif isinstance(statement, syntax.Constant):
            self.declare_constant(statement)
        elif isinstance(statement, syntax.ValueSet):
            self.declare_value_set(statement)
        else:
            assert isinstance(statement, syntax.Instantiation)
            self.declare_instance(statement)

    def _action_declaration(self, action: syntax.Action, owner: syntax.Control | None) -> None:
        self.push()
        parameters = []
        for parameter in action.parameters:
            role = "parameter" if parameter.direction else "action_data"
            parameters += self.parameters([parameter], role)
        seen_data: VariableSymbol | None = None
        for symbol in parameters:
            if symbol.role == "action_data":
                seen_data = symbol
                if types.width_of(symbol.type) is None or isinstance(
                    symbol.type, (Composite, types.Tuple)
                ):
                    raise P4Error(
                        symbol.position,
                        f"action data '{symbol.name}' is {symbol.type}; expected bit<W>, int<W>, "
                        "bool or a serializable enum",
                    )
            elif seen_data is not None:
                raise P4Error(
                    symbol.position,
                    f"parameter '{symbol.name}' has a direction; such parameters come before "
                    f"'{seen_data.name}'",
                )
            self.scope.declare(symbol)
        self.in_action = True
        self.check_block(action.body)
        self.in_action = False
        self.pop()
        action.symbol = ActionSymbol(action.name, action.position, action, parameters, owner)
        self.scope.declare(action.symbol)


def check(program: syntax.Program) -> Scope:
    """Annotates the tree in place; returns the top-level scope. Raises P4Error."""
    return ProgramChecker().check_program(program)
