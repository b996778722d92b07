"""Statements and the declarations among them."""

from __future__ import annotations

from collections.abc import Callable as Function

from p4soft.check import types
from p4soft.check.calls import CallChecker
from p4soft.check.constant_parts import leaves
from p4soft.check.conversion import convert
from p4soft.check.symbols import ActionSymbol, InstanceSymbol, VariableSymbol
from p4soft.check.types import BOOL, INTEGER, VOID, Generic, Type
from p4soft.errors import P4Error
from p4soft.frontend import syntax

_NOT_A_VARIABLE = "expected bit<W>, int<W>, bool, an enum, a header or a struct"


class StatementChecker(CallChecker):
    def __init__(self) -> None:
        super().__init__()
        self.returns: Type = VOID  # of the function being checked

    def check_statement(self, statement: syntax.Statement) -> None:
        checkers: dict[type, Function[..., None]] = {
            syntax.Block: self.check_block,
            syntax.Assignment: self._assignment,
            syntax.CallStatement: self._call_statement,
            syntax.If: self._if,
            syntax.Switch: self._switch,
            syntax.Return: self._return,
            syntax.Exit: self._exit,
            syntax.Empty: lambda _: None,
            syntax.Variable: lambda s: self.declare_variable(s, "local"),
            syntax.Constant: self.declare_constant,
            syntax.Instantiation: self._instance_in_block,
        }
        checkers[type(statement)](statement)

    def check_block(self, block: syntax.Block) -> None:
        self.push()
        for statement in block.statements:
            self.check_statement(statement)
        self.pop()

    # --- Statements -------------------------------------------------------------------------------

    def _assignment(self, assignment: syntax.Assignment) -> None:
        target = self.check_place(assignment.target, "the left side of '='")
        if isinstance(target, Generic):
            raise P4Error(assignment.position, f"{target} cannot be assigned")
        self.check_as(assignment.value, target, "the value assigned")

    def _call_statement(self, statement: syntax.CallStatement) -> None:
        self.check(statement.call)
        if statement.call.target.kind == "constructor":
            raise P4Error(
                statement.position, "this instance has no name; expected `Type(arguments) name;`"
            )

    def _if(self, statement: syntax.If) -> None:
        self.check_as(statement.condition, BOOL, "the condition of if")
        for branch in (statement.then, statement.otherwise):
            if branch is not None:
                self.push()
                self.check_statement(branch)
                self.pop()

    def _switch(self, statement: syntax.Switch) -> None:
        subject = self.check(statement.subject)
        if isinstance(self.owner, syntax.Parser):
            raise P4Error(statement.position, "switch is not allowed in a parser; use select")
        seen: set[object] = set()
        for case in statement.cases:
            for label in case.labels:
                key = self._switch_label(label, subject)
                if key in seen:
                    raise P4Error(label.position, "this case appears twice in the switch")
                seen.add(key)
            if case.body is not None:
                self.check_block(case.body)
        if statement.cases and statement.cases[-1].body is None:
            raise P4Error(statement.cases[-1].position, "the last case of a switch needs a block")

    def _switch_label(self, label: syntax.Expression, subject: Type) -> object:
        if isinstance(label, syntax.DefaultExpression):
            return "default"
        if isinstance(subject, types.ActionRun):
            names = [reference.name for reference in subject.table.actions]
            if not isinstance(label, syntax.Name) or label.name not in names:
                raise P4Error(
                    label.position,
                    f"this case is no action of table '{subject.table.name}'; expected one of "
                    f"{', '.join(names)}",
                )
            label.symbol = self.scope.require(label.name, label.position, label.is_global)
            assert isinstance(label.symbol, ActionSymbol)
            return label.name
        base = types.underlying(subject)
        if not isinstance(base, (types.Bit, types.Int, types.Enum)):
            raise P4Error(
                label.position, f"a switch over {subject}; expected action_run, a number or an enum"
            )
        self.check_as(label, subject, "the case")
        if label.value is None:
            raise P4Error(label.position, "a case must be a constant")
        return label.value

    def _return(self, statement: syntax.Return) -> None:
        if isinstance(self.owner, syntax.Parser):
            raise P4Error(statement.position, "return is not allowed in a parser")
        if statement.value is None:
            if self.returns != VOID:
                raise P4Error(statement.position, f"return needs a value of type {self.returns}")
        elif self.returns == VOID:
            raise P4Error(statement.position, "nothing can be returned here")
        else:
            self.check_as(statement.value, self.returns, "the value returned")

    def _exit(self, statement: syntax.Exit) -> None:
        if isinstance(self.owner, syntax.Parser):
            raise P4Error(
                statement.position, "exit is not allowed in a parser; use `transition reject`"
            )

    def _instance_in_block(self, statement: syntax.Instantiation) -> None:
        raise P4Error(
            statement.position,
            "an instance cannot be declared inside a block; move it before apply or the states",
        )

    # --- Declarations -----------------------------------------------------------------------------

    def declare_variable(self, variable: syntax.Variable, role: str) -> None:
        type_ = self.resolve(variable.declared)
        if type_ == INTEGER:
            raise P4Error(
                variable.position, "a variable of type int has no width; expected int<W> or bit<W>"
            )
        if type_ in (VOID, types.STRING, types.MATCH_KIND, types.ANY) or isinstance(
            type_, (Generic, types.Varbit)
        ):
            raise P4Error(variable.position, f"a variable of type {type_}; {_NOT_A_VARIABLE}")
        if variable.initializer is not None:
            self.check_as(variable.initializer, type_, f"the initial value of '{variable.name}'")
        variable.symbol = VariableSymbol(variable.name, variable.position, type_, role)
        self.scope.declare(variable.symbol)

    def declare_constant(self, constant: syntax.Constant) -> None:
        type_ = self.resolve(constant.declared)
        self.check(constant.initializer)
        convert(constant.initializer, type_, f"the value of constant '{constant.name}'")
        for part in leaves(constant.initializer):
            if part.value is None:
                raise P4Error(
                    part.position, f"the value of constant '{constant.name}' is not constant"
                )
        value = constant.initializer.value
        symbol = VariableSymbol(constant.name, constant.position, type_, "constant", "in", value)
        if value is None:
            symbol.initializer = constant.initializer
        if isinstance(constant.initializer, syntax.IntegerLiteral):
            symbol.base = constant.initializer.base
        self.scope.declare(symbol)

    def declare_instance(self, instance: syntax.Instantiation) -> InstanceSymbol:
        type_ = self.resolve(instance.declared)
        if not isinstance(type_, Generic):
            raise P4Error(instance.position, f"{type_} cannot be instantiated")
        full, arguments, constructor = self.construct(type_, instance.arguments, instance.position)
        symbol = InstanceSymbol(
            instance.name,
            instance.position,
            instance,
            full,
            arguments,
            constructor.declaration if constructor else None,
        )
        instance.symbol = symbol
        for annotation in instance.annotations:
            if annotation.expression is not None:
                what = f"the argument of @{annotation.name}"
                self.constant_integer(annotation.expression, what)
        if instance.methods is not None:
            self._abstract_methods(instance, full)
        self.scope.declare(symbol)
        return symbol

    def _abstract_methods(self, instance: syntax.Instantiation, type_: Generic) -> None:
        assert instance.methods is not None
        declaration = type_.declaration
        methods = declaration.methods if isinstance(declaration, syntax.Extern) else []
        abstract = {m.name for m in methods if syntax.annotation(m.annotations, "abstract")}
        for method in instance.methods:
            if method.name not in abstract:
                raise P4Error(method.position, f"{type_} has no abstract method '{method.name}'")
            self.check_function_body(method)

    def parameters(self, parameters: list[syntax.Parameter], role: str) -> list[VariableSymbol]:
        """Symbols for parameters; also stored in the nodes. Does not declare them."""
        result = []
        for parameter in parameters:
            type_ = self.resolve(parameter.declared)
            symbol = VariableSymbol(
                parameter.name,
                parameter.position,
                type_,
                role,
                parameter.direction,
                None,
                None,
                parameter.optional,
            )
            if parameter.default is not None:
                self.check_as(parameter.default, type_, f"the default of '{parameter.name}'")
                symbol.default = parameter.default
            parameter.symbol = symbol
            result.append(symbol)
        return result

    def check_function_body(self, function: syntax.Function) -> None:
        assert function.body is not None and function.returns is not None
        self.push()
        for symbol in self.parameters(function.parameters, "parameter"):
            self.scope.declare(symbol)
        previous, self.returns = self.returns, self.resolve(function.returns)
        self.check_block(function.body)
        self.returns = previous
        self.pop()
