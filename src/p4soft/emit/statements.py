"""Statements to C++."""

from __future__ import annotations

from collections.abc import Callable as Function

from p4soft.check import types
from p4soft.check.symbols import ActionSymbol
from p4soft.emit.calls import CallEmitter
from p4soft.emit.cpp_types import cpp_constant, cpp_type
from p4soft.emit.naming import identifier
from p4soft.frontend import syntax
from p4soft.known_conditions import known


class StatementEmitter(CallEmitter):
    def statement(self, statement: syntax.Statement) -> None:
        emitters: dict[type, Function[..., None]] = {
            syntax.Block: self._block,
            syntax.Assignment: self._assignment,
            syntax.CallStatement: self._call_statement,
            syntax.If: self._if,
            syntax.Switch: self._switch,
            syntax.Return: self._return,
            syntax.Exit: self._exit,
            syntax.Empty: lambda _: None,
            syntax.Variable: self._variable,
            syntax.Constant: lambda _: None,
        }
        emitters[type(statement)](statement)

    def _block(self, block: syntax.Block) -> None:
        with self.lines.braces(""):
            for statement in block.statements:
                self.statement(statement)

    def body(self, statement: syntax.Statement) -> None:
        """A statement inside braces that are there already."""
        for inner in statement.statements if isinstance(statement, syntax.Block) else [statement]:
            self.statement(inner)

    def _assignment(self, assignment: syntax.Assignment) -> None:
        text, before = self.captured(lambda: self.value(assignment.value))
        if not before.is_empty():
            self.save_place(assignment.target)
        self.lines.append(before)
        if _lists_headers(assignment.value):
            self.lines.add(f"{self.value(assignment.target)}.items = {text}.items;")
        else:
            self.store(assignment.target, text)
        self.forget_places([assignment.target])

    def _call_statement(self, statement: syntax.CallStatement) -> None:
        text = self.call(statement.call)
        if text and not text.isidentifier():
            self.lines.add(f"static_cast<void>({text});")

    def _if(self, statement: syntax.If) -> None:
        holds = known(statement.condition, self.block.find) if self.block else None
        if holds is not None:
            taken = statement.then if holds else statement.otherwise
            if taken is not None:
                with self.lines.braces(""):
                    self.body(taken)
            return
        condition = self.value(statement.condition)
        with self.lines.braces(f"if ({condition})", "}"):
            self.body(statement.then)
        if statement.otherwise is not None:
            with self.lines.braces("else"):
                self.body(statement.otherwise)

    def _switch(self, statement: syntax.Switch) -> None:
        subject = self.value(statement.subject)
        assert statement.subject.type is not None
        action_run = (
            statement.subject.type if isinstance(statement.subject.type, types.ActionRun) else None
        )
        chosen = self.temporary("case")
        self.lines.add(f"const auto {chosen} = {subject};")
        keyword = "if"
        labels: list[syntax.Expression] = []
        default: syntax.Block | None = None
        for case in statement.cases:
            labels += case.labels
            if case.body is None:
                continue
            if any(isinstance(label, syntax.DefaultExpression) for label in labels):
                default = case.body
                labels = []
                continue
            tests = [f"{chosen} == {self._label(label, action_run)}" for label in labels]
            with self.lines.braces(f"{keyword} ({' || '.join(tests)})"):
                self.body(case.body)
            keyword, labels = "else if", []
        if default is not None:
            with self.lines.braces("else" if keyword != "if" else ""):
                self.body(default)

    def _label(self, label: syntax.Expression, action_run: types.ActionRun | None) -> str:
        if action_run is None:
            assert label.type is not None
            return cpp_constant(label.value, label.type)
        assert isinstance(label, syntax.Name) and isinstance(label.symbol, ActionSymbol)
        number = [reference.name for reference in action_run.table.actions].index(label.name)
        return f"{number}U /* {label.name} */"

    def _return(self, statement: syntax.Return) -> None:
        value = "" if statement.value is None else " " + self.value(statement.value)
        self.lines.add(f"return{value or self.empty_result()};")

    def _exit(self, statement: syntax.Exit) -> None:
        self.lines.add("exited_ = true;", f"return{self.empty_result()};")

    def _variable(self, variable: syntax.Variable) -> None:
        type_ = variable.symbol.type
        initial = "{}" if variable.initializer is None else f" = {self.value(variable.initializer)}"
        self.lines.add(f"[[maybe_unused]] {cpp_type(type_)} {identifier(variable.name)}{initial};")


def _lists_headers(value: syntax.Expression) -> bool:
    """Whether it gives a stack its elements, as if each was assigned: `next` stays where it is."""
    while isinstance(value, syntax.Cast):
        value = value.operand
    return isinstance(value, syntax.ListExpression) and isinstance(value.type, types.Stack)
