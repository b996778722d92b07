"""Puts the body of a RegisterAction into a stateful unit, statement by statement.

What has no place in the unit (check.stateful_unit) is an error at the expression that needs it.
"""

from __future__ import annotations

import copy

from p4soft.check import types
from p4soft.check.action_locals import Computed, copied
from p4soft.check.action_values import (
    COMPUTE_BEFORE,
    Values,
    are_too_many_casts,
    ends_with_cell,
    is_operation,
    is_unary,
)
from p4soft.check.stateful_unit import (
    ALWAYS,
    OLD_BIT,
    RESULT_OF_BITS,
    Computation,
    NewHalf,
    Number,
    Shared,
)
from p4soft.check.symbols import VariableSymbol
from p4soft.elaborate import ExternInstance
from p4soft.frontend import syntax
from p4soft.tree import walk

SECOND_VALUE = (
    "a second value in the same case",
    "values under conditions that exclude each other",
)


def fit(action: ExternInstance, shared: Shared) -> None:
    """Raises P4Error if the action does not fit a stateful unit."""
    trial = _Body(action, copy.deepcopy(shared), has_local=False)
    trial.fit()
    _Body(action, shared, has_local=trial.has_local).fit()


class _Body(Values):
    def fit(self) -> None:
        self._statement(self._body, ALWAYS)
        if self._width == 1 and self._zero is not None and None not in self._written:
            raise self._refuse(self._zero, RESULT_OF_BITS, OLD_BIT)

    # --- Statements -------------------------------------------------------------------------------

    def _statement(self, statement: syntax.Statement | None, predicate: int) -> None:
        self._predicate = predicate
        if isinstance(statement, syntax.Block):
            for inner in statement.statements:
                self._statement(inner, predicate)
        elif isinstance(statement, syntax.If):
            holds = self._condition(statement.condition)
            self._statement(statement.then, predicate & holds)
            self._statement(statement.otherwise, predicate & ~holds)
        elif isinstance(statement, syntax.Return):
            raise self._refuse(statement, "a return", "if and else")
        elif isinstance(statement, syntax.Assignment):
            self._assignment(statement.target, statement.value, predicate)
        elif isinstance(statement, syntax.Variable):
            self._declare(statement, predicate)
        elif not isinstance(statement, (syntax.Empty, syntax.Constant, type(None))):
            raise self._refuse(statement, "this statement", "assignments and if")

    def _assignment(
        self, target: syntax.Expression, value: syntax.Expression, predicate: int
    ) -> None:
        self._predicate = predicate
        if self._locals.has(target):
            if any(isinstance(n, syntax.Name) and n.symbol is target.symbol for n in walk(value)):
                self._from_themselves.add(target.symbol)  # type: ignore[arg-type]
            self._locals.bind(target.symbol, predicate, self._frozen(value))  # type: ignore[arg-type]
            return
        if self._is_result(target) and self._locals.has(value):
            self._output_local(target, value, predicate)
            return
        value = self._resolved(value)
        if isinstance(value, syntax.Conditional):
            self._choose(target, value, predicate)
        elif self._is_result(target):
            self._output(target, value, predicate)
        elif (half := self._half(target)) is not None:
            self._store(half, target, value, predicate)
        elif self._is_cell(target) and isinstance(
            value, (syntax.ListExpression, syntax.StructExpression)
        ):
            self._store_pair(target, value, predicate)
        else:
            raise self._refuse(
                target, "an assignment to anything but the cell and the result", "those"
            )

    def _choose(
        self, target: syntax.Expression, choice: syntax.Conditional, predicate: int
    ) -> None:
        if not self._is_result(target):
            self._check_choice(choice)
        holds = self._condition(choice.condition)
        self._assignment(target, choice.then, predicate & holds)
        self._assignment(target, choice.otherwise, predicate & ~holds)

    def _declare(self, variable: syntax.Variable, predicate: int) -> None:
        self._locals.declare(variable.symbol)
        if variable.initializer is not None:
            self._locals.bind(variable.symbol, predicate, self._frozen(variable.initializer))

    def _store_pair(
        self,
        target: syntax.Expression,
        value: syntax.ListExpression | syntax.StructExpression,
        predicate: int,
    ) -> None:
        if isinstance(value, syntax.ListExpression):
            items = dict(enumerate(value.items))
        else:
            assert self._fields is not None
            items = {self._fields.index(i.name or ""): i.expression for i in value.items}
        for half, item in items.items():
            self._store(half, target, self._resolved(item), predicate)

    def _store(
        self, half: int, target: syntax.Expression, value: syntax.Expression, predicate: int
    ) -> None:
        same = self._half(self._without_casts(value)) == half
        if same and not self._written.get(half, 0) & predicate:
            return  # it stays as it is
        computations = self._write(half, value, predicate)
        self._claim(half, predicate, target)
        if computations[0].operation == "copy" and len(computations) == 1:
            self._copies[half] = (computations[0].operands[0], predicate)

    def _write(self, half: int, value: syntax.Expression, predicate: int) -> list[Computation]:
        parts = [value]
        if isinstance(value, syntax.Binary) and value.operator == "|":
            sides = [self._resolved(side) for side in (value.left, value.right)]
            parts = sides if any(map(is_operation, sides)) else parts
        computations = []
        if predicate == ALWAYS and _are_sum_and_copy(parts):
            what = "a copy and a sum joined by '|' in all cases"
            raise self._refuse(value, what, "two operations, or a condition")
        for part in parts:
            computations.append(self._computation(part))
            self._unit.write(half, computations[-1], predicate, part.position)
        return computations

    def _output(self, target: syntax.Expression, value: syntax.Expression, predicate: int) -> None:
        if value.value == 0 and predicate == ALWAYS and None not in self._written:
            self._zero = value
        elif self._is_repeated(value):
            self._written[None] = self._written.get(None, 0) | predicate
        else:
            self._claim(None, predicate, target)
        if types.underlying(value.type) == types.BOOL and value.value is None:  # type: ignore[arg-type]
            predicate &= self._condition(value)
            self._unit.output(Number(1), predicate, value.position)
            return
        stripped = self._without_casts(value)
        if isinstance(stripped, Computed):
            self._output_computed(stripped.symbol, predicate, value)
            return
        if self._width == 1 and is_unary(stripped, "~"):
            stripped = value = self._without_casts(stripped.operand)
        half = self._half(stripped)
        if half is not None and half in self._written:
            self._unit.output(NewHalf(half), predicate, value.position)
        elif is_operation(stripped):
            self._unit.output(self._computation(stripped), predicate, value.position)
        elif are_too_many_casts(value):
            raise self._refuse(value, "a result of three casts", "two")
        else:
            self._unit.output(self._operand(value), predicate, value.position)

    def _is_repeated(self, value: syntax.Expression) -> bool:
        """Whether a pair's result has been this number so far: it is where any condition holds."""
        self._results.add(value.value)
        return self._fields is not None and self._results == {value.value} != {None}

    def _output_local(self, target: syntax.Expression, name: syntax.Name, predicate: int) -> None:
        """The compiler keeps a variable that is the result, even if nothing was written since."""
        self._claim(None, predicate, target)
        self._results.add(None)
        assert isinstance(name.symbol, VariableSymbol)
        value = self._resolved(name)
        if (copy_ := copied(value)) is None:
            self._output_computed(name.symbol, predicate, name)
        else:
            self._unit.output(self._old(copy_, name), predicate, name.position)

    def _output_computed(
        self, symbol: VariableSymbol, predicate: int, at: syntax.Expression
    ) -> None:
        """It is what the ALUs of hi compute."""
        self._keep(symbol, at)
        if self._fields is not None:
            what = "a local variable that is computed, beside a pair"
            raise self._refuse(at, what, "a packet field, or cells of one value")
        if symbol in self._from_themselves:
            what = "a local variable that is computed from itself as the result"
            raise self._refuse(at, what, "another variable for each value")
        if self._computed not in (None, symbol):
            what = "a second local variable that is computed"
            raise self._refuse(at, what, COMPUTE_BEFORE)
        self._computed = symbol
        bindings = self._locals.bindings(symbol, predicate)
        if len(bindings) > 1 and copied(bindings[0].value) is not None:
            raise self._refuse(at, "a copy of the cell that becomes another value", "one of both")
        if ends_with_cell(self._locals.bindings(symbol, ALWAYS)[0].value):
            what = "a local variable that ends with the cell"
            raise self._refuse(at, what, "the field of the cell on the left")
        for binding in bindings:
            if binding.predicate != binding.assigned and binding.value.value != 0:
                raise self._refuse(at, *SECOND_VALUE)
            if binding not in self._in_hi:
                self._in_hi.append(binding)
                self._claim(1, binding.predicate, binding.value)
                self._compute(binding.value, binding.predicate)
        self._unit.output(NewHalf(1), predicate, at.position)

    def _compute(self, value: syntax.Expression, predicate: int) -> None:
        self._predicate = predicate
        if isinstance(value, syntax.Conditional):
            self._check_choice(value)
            holds = self._condition(value.condition)
            self._compute(value.then, predicate & holds)
            self._compute(value.otherwise, predicate & ~holds)
        elif value.value != 0:  # which they give where nothing is computed
            self._write(1, value, predicate)

    def _check_choice(self, choice: syntax.Conditional) -> None:
        """The compiler gives a copy the operation of the condition."""
        for value in (choice.then, choice.otherwise):
            plain = self._without_casts(self._resolved(value))
            if not isinstance(plain, syntax.Conditional) and (
                not is_operation(plain) or is_unary(plain, "~")
            ):
                raise self._refuse(value, "a copy chosen by '? :'", "if and else")

    def _claim(self, half: int | None, predicate: int, at: syntax.Expression) -> None:
        written = self._written.get(half, 0)
        if written & predicate:
            raise self._refuse(at, *SECOND_VALUE)
        self._written[half] = written | predicate


def _are_sum_and_copy(parts: list[syntax.Expression]) -> bool:
    is_sum = [isinstance(part, syntax.Binary) and part.operator in ("+", "-") for part in parts]
    return len(parts) > 1 and any(is_sum) and not all(map(is_operation, parts))
