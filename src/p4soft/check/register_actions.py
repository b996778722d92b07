"""Puts the body of a RegisterAction into a stateful unit, statement by statement.

What has no place in the unit (check.stateful_unit) is an error at the expression that needs it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any, TypeGuard

from p4soft.check import types
from p4soft.check.stateful_unit import (
    ALWAYS,
    Computation,
    Half,
    Input,
    NewHalf,
    Number,
    Operand,
    Shared,
    StatefulUnit,
)
from p4soft.check.symbols import VariableSymbol
from p4soft.elaborate import ExternInstance
from p4soft.errors import P4Error
from p4soft.frontend import syntax
from p4soft.tree import walk

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_OPERATIONS = ("+", "-", "|+|", "|-|", "&", "|", "^")
_BITWISE = ("&", "|", "^")


def fit(action: ExternInstance, shared: Shared) -> None:
    """Raises P4Error if the action does not fit a stateful unit."""
    _Body(action, shared).fit()


class _Body:
    def __init__(self, action: ExternInstance, shared: Shared) -> None:
        method = action.methods[0]
        cell = types.underlying(action.arguments[0].type.arguments[0])
        is_pair = isinstance(cell, types.Composite)
        scalar = types.underlying(next(iter(cell.fields.values()))) if is_pair else cell
        assert isinstance(scalar, (types.Bit, types.Int)) and method.body is not None
        self._unit = StatefulUnit(scalar.width, is_pair, shared)
        self._fields = list(cell.fields) if is_pair else None
        self._signed = isinstance(scalar, types.Int)
        self._width = scalar.width
        self._body = method.body
        self._cell, *result = [parameter.symbol for parameter in method.parameters]
        self._result = result[0] if result else None
        self._locals: dict[VariableSymbol, syntax.Expression | None] = {}
        # Per half, and of the result (None): the outcomes in which it has been written.
        self._written: dict[int | None, int] = {}
        # Per half: what was copied to it, and in which outcomes.
        self._copies: dict[int, tuple[Operand, int]] = {}
        self._predicate = ALWAYS  # of the statement at hand
        self._name = action.path.rpartition(".")[2]

    def fit(self) -> None:
        self._statement(self._body, ALWAYS)

    # --- Statements -------------------------------------------------------------------------------

    def _statement(self, statement: syntax.Statement | None, predicate: int) -> int:
        """The outcomes in which the next statement follows; the others return."""
        self._predicate = predicate
        if isinstance(statement, syntax.Block):
            for inner in statement.statements:
                predicate = self._statement(inner, predicate)
        elif isinstance(statement, syntax.If):
            holds = self._condition(statement.condition)
            then = self._statement(statement.then, predicate & holds)
            return then | self._statement(statement.otherwise, predicate & ~holds)
        elif isinstance(statement, syntax.Return):
            return 0
        elif isinstance(statement, syntax.Assignment):
            self._assignment(statement.target, statement.value, predicate)
        elif isinstance(statement, syntax.Variable):
            self._locals[statement.symbol] = statement.initializer
        elif not isinstance(statement, (syntax.Empty, syntax.Constant, type(None))):
            raise self._refuse(statement, "this statement", "assignments and if")
        return predicate

    def _assignment(
        self, target: syntax.Expression, value: syntax.Expression, predicate: int
    ) -> None:
        value = self._resolved(value)
        self._predicate = predicate
        if isinstance(value, syntax.Conditional):
            holds = self._condition(value.condition)
            self._assignment(target, value.then, predicate & holds)
            self._assignment(target, value.otherwise, predicate & ~holds)
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
        parts = [value]
        if isinstance(value, syntax.Binary) and value.operator == "|":
            sides = [self._resolved(side) for side in (value.left, value.right)]
            parts = sides if any(map(_is_operation, sides)) else parts
        for part in parts:
            computation = self._computation(part)
            self._unit.write(half, computation, predicate, part.position)
        self._claim(half, predicate, target)
        if computation.operation == "copy" and len(parts) == 1:
            self._copies[half] = (computation.operands[0], predicate)

    def _output(self, target: syntax.Expression, value: syntax.Expression, predicate: int) -> None:
        if not (value.value == 0 and predicate == ALWAYS and None not in self._written):
            self._claim(None, predicate, target)
        if types.underlying(value.type) == types.BOOL and value.value is None:  # type: ignore[arg-type]
            predicate &= self._condition(value)
            self._unit.output(Number(1), predicate, value.position)
            return
        stripped = self._without_casts(value)
        if self._width == 1 and _is_unary(stripped, "~"):
            stripped = value = self._without_casts(stripped.operand)
        half = self._half(stripped)
        if half is not None and half in self._written:
            self._unit.output(NewHalf(half), predicate, value.position)
        elif _is_operation(stripped):
            self._unit.output(self._computation(stripped), predicate, value.position)
        else:
            self._unit.output(self._operand(value), predicate, value.position)

    def _claim(self, half: int | None, predicate: int, at: syntax.Expression) -> None:
        written = self._written.get(half, 0)
        if written & predicate:
            raise self._refuse(
                at,
                "a second value in the same case",
                "values under conditions that exclude each other",
            )
        self._written[half] = written | predicate

    # --- Conditions -------------------------------------------------------------------------------

    def _condition(self, node: syntax.Expression) -> int:
        node = self._without_casts(self._resolved(node))
        if node.value is not None:
            return ALWAYS if node.value else 0
        if isinstance(node, syntax.Unary) and node.operator == "!":
            return ALWAYS & ~self._condition(node.operand)
        if isinstance(node, syntax.Binary) and node.operator == "&&":
            return self._condition(node.left) & self._condition(node.right)
        if isinstance(node, syntax.Binary) and node.operator == "||":
            return self._condition(node.left) | self._condition(node.right)
        if isinstance(node, syntax.Binary) and node.operator in _COMPARISONS:
            terms = [*self._terms(node.left, 1), *self._terms(node.right, -1)]
            terms = [term for term in terms if term[1] != Number(0)]
            unsigned = not isinstance(types.underlying(node.left.type), types.Int)  # type: ignore[arg-type]
            return self._unit.compare(node.operator, terms, unsigned=unsigned, at=node.position)
        return self._unit.compare("!=", [(1, self._operand(node))], unsigned=True, at=node.position)

    def _terms(self, node: syntax.Expression, sign: int) -> list[tuple[int, Operand]]:
        node = self._resolved(node)
        if node.value is None:
            if isinstance(node, syntax.Binary) and node.operator in ("+", "-"):
                left = self._terms(node.left, sign)
                if node.operator == "-" and node.right.value is not None:
                    return [*left, (sign, self._complement(int(node.right.value)))]
                return [*left, *self._terms(node.right, sign if node.operator == "+" else -sign)]
            if isinstance(node, syntax.Unary) and node.operator == "-":
                return self._terms(node.operand, -sign)
        return [(sign, self._operand(node))]

    # --- Values -----------------------------------------------------------------------------------

    def _computation(self, node: syntax.Expression) -> Computation:
        node = self._without_casts(node)
        operands: list[syntax.Expression | None] = []
        if node.value is not None:
            pass
        elif isinstance(node, syntax.Binary) and node.operator in _OPERATIONS:
            operands = self._operands_of(node)
        elif _is_unary(node, "~"):
            inner = self._without_casts(self._resolved(node.operand))
            is_bitwise = isinstance(inner, syntax.Binary) and inner.operator in _BITWISE
            operands = self._operands_of(inner) if is_bitwise else [inner]
        elif _is_unary(node, "-"):
            operands = [node.operand]
        elif isinstance(node, syntax.Call) and node.target.name in ("min", "max"):
            operands = node.target.arguments
        if not operands:
            return Computation("copy", (self._operand(node),))
        operation, values = _operation(node), tuple(map(self._operand, operands))
        if operation == ". - ." and isinstance(values[1], Number):
            return Computation(". + .", (values[0], self._complement(values[1].value)))
        return Computation(operation, values)

    def _complement(self, value: int) -> Number:
        """The compiler adds this instead of subtracting the constant, even if it is larger."""
        return Number(-value if self._signed else -value % (1 << self._width))

    def _operands_of(self, operation: syntax.Binary) -> list[syntax.Expression]:
        """Without the complement that one operand of a bitwise operation may have."""
        operands = [self._resolved(side) for side in (operation.left, operation.right)]
        complemented = [side for side in operands if _is_unary(side, "~")]
        if operation.operator not in _BITWISE or len(complemented) != 1:
            return operands
        return [side.operand if side in complemented else side for side in operands]

    def _operand(self, node: syntax.Expression | None) -> Operand:
        assert node is not None
        node = self._resolved(node)
        if node.value is not None:
            return Number(int(node.value))
        stripped = self._without_casts(node)
        half = self._half(stripped)
        if half is not None:
            return self._read(half, node)
        if self._reads_cell(stripped):
            raise self._refuse(stripped, "this expression as an operand", "one operation per value")
        width = types.width_of(node.type)  # type: ignore[arg-type]
        direct = _is_field(stripped) and width == types.width_of(stripped.type)  # type: ignore[arg-type]
        if not direct and not _is_wiring(node):
            raise self._refuse(node, "this expression as an operand", "one operation per value")
        return Input(_shape(stripped), width or 0, direct)

    def _read(self, half: int, at: syntax.Expression) -> Operand:
        """The half, or what was copied to it."""
        if not self._written.get(half, 0) & self._predicate:
            return Half(half)
        operand, predicate = self._copies.get(half, (Half(half), 0))
        if self._predicate & ~predicate:
            what = "a value computed from one that it computes"
            raise self._refuse(at, what, "the cell as it was read")
        return operand

    # --- What names mean --------------------------------------------------------------------------

    def _resolved(self, node: syntax.Expression) -> syntax.Expression:
        """A local variable is what it was made from."""
        if isinstance(node, syntax.Name) and node.symbol in self._locals:
            value = self._locals[node.symbol]  # type: ignore[index]
            if value is None:
                raise self._refuse(node, "a variable without a value", "its value itself")
            return self._resolved(value)
        return node

    def _is_cell(self, node: syntax.Expression) -> bool:
        return isinstance(node, syntax.Name) and node.symbol is self._cell

    def _is_result(self, node: syntax.Expression) -> bool:
        return isinstance(node, syntax.Name) and node.symbol is self._result

    def _half(self, node: syntax.Expression) -> int | None:
        if self._fields is None:
            return 0 if self._is_cell(node) else None
        if isinstance(node, syntax.Member) and self._is_cell(node.base):
            return self._fields.index(node.name)
        return None

    def _reads_cell(self, node: syntax.Expression) -> bool:
        return any(
            isinstance(part, syntax.Name)
            and part.symbol in (self._cell, self._result, *self._locals)
            for part in walk(node)
        )

    def _without_casts(self, node: syntax.Expression) -> syntax.Expression:
        while isinstance(node, syntax.Cast) and node.value is None:
            node = self._resolved(node.operand)
        return node

    def _refuse(self, at: syntax.Node, what: str, instead: str) -> P4Error:
        return P4Error(
            at.position,
            f"a stateful unit of Tofino has no place for {what} (RegisterAction '{self._name}'); "
            f"expected: {instead}",
        )


def _is_unary(node: syntax.Expression, operator: str) -> TypeGuard[syntax.Unary]:
    return node.value is None and isinstance(node, syntax.Unary) and node.operator == operator


def _is_operation(node: syntax.Expression) -> bool:
    if node.value is not None:
        return False
    if isinstance(node, syntax.Call):
        return True
    return isinstance(node, (syntax.Unary, syntax.Binary)) and node.operator != "++"


def _is_field(node: syntax.Expression) -> bool:
    if isinstance(node, syntax.Slice):
        node = node.base
    return isinstance(node, (syntax.Name, syntax.Member))


def _is_wiring(node: syntax.Expression) -> bool:
    """Casts, slices and concatenations of fields: no computation."""
    if node.value is not None or _is_field(node):
        return True
    if isinstance(node, syntax.Cast):
        return _is_wiring(node.operand)
    if isinstance(node, syntax.Binary) and node.operator == "++":
        return _is_wiring(node.left) and _is_wiring(node.right)
    return False


def _operation(node: syntax.Node) -> str:
    """The operation with its complements; `.` stands for an operand."""
    if isinstance(node, syntax.Unary):
        return node.operator + _operation(node.operand)
    if isinstance(node, syntax.Binary):
        return f"{_operation(node.left)} {node.operator} {_operation(node.right)}"
    return node.target.name if isinstance(node, syntax.Call) else "."


def _shape(node: Any) -> Hashable:
    """Equal for expressions that are written alike."""
    if isinstance(node, syntax.Node):
        fields = (f.name for f in dataclasses.fields(node) if f.init and "position" not in f.name)
        return (type(node).__name__, *(_shape(getattr(node, name)) for name in fields))
    return tuple(map(_shape, node)) if isinstance(node, list) else node
