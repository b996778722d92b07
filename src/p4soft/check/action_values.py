"""What the expressions in the body of a RegisterAction are to a stateful unit."""

from __future__ import annotations

from typing import TypeGuard

from p4soft.check import types
from p4soft.check.action_locals import Binding, Computed, Frozen, Locals, replaced
from p4soft.check.constants import fold_binary
from p4soft.check.stateful_unit import (
    ALWAYS,
    Computation,
    Half,
    Input,
    Number,
    Operand,
    Parameter,
    Shared,
    StatefulUnit,
)
from p4soft.check.symbols import VariableSymbol
from p4soft.elaborate import ExternInstance, cell_of_action
from p4soft.errors import P4Error
from p4soft.frontend import syntax
from p4soft.tree import shape, walk

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_OPERATIONS = ("+", "-", "|+|", "|-|", "&", "|", "^")
COMPUTE_BEFORE = "what can be computed before, in a packet field"
_FROM_COMPUTED = "a value computed from one that it computes"
MAX_CASTS = 2
_BITWISE = ("&", "|", "^")
_COMMUTATIVE = ("+", "|+|", *_BITWISE)


class Values:
    """Knows what the names mean at the statement at hand, and what has been written by then."""

    def __init__(self, action: ExternInstance, shared: Shared, *, has_local: bool) -> None:
        method = action.methods[0]
        cell = cell_of_action(action)
        is_pair = isinstance(cell, types.Composite)
        scalar = types.underlying(next(iter(cell.fields.values()))) if is_pair else cell
        assert isinstance(scalar, (types.Bit, types.Int)) and method.body is not None
        self.has_local = False  # one that stands for more than an expression
        self._fields = list(cell.fields) if is_pair else None
        self._signed = isinstance(scalar, types.Int)
        self._width = scalar.width
        self._body = method.body
        self._cell, *result = [parameter.symbol for parameter in method.parameters]
        self._result = result[0] if result else None
        casts = (
            bool(result) and isinstance(types.underlying(result[0].type), types.Int) != self._signed
        )
        self._unit = StatefulUnit(scalar.width, casts, is_pair, shared, has_local)
        # Per half, and of the result (None): the outcomes in which it has been written.
        self._written: dict[int | None, int] = {}
        self._zero: syntax.Expression | None = None  # the result at first
        self._locals = Locals(self._written)
        self._from_themselves: set[VariableSymbol] = set()  # variables computed from themselves
        self._computed: VariableSymbol | None = None  # the one in the ALUs of hi
        self._in_hi: list[Binding] = []  # its values there
        self._results: set[object] = set()  # the numbers among them; None: anything else
        # Per half: what was copied to it, and in which outcomes.
        self._copies: dict[int, tuple[Operand, int]] = {}
        self._predicate = ALWAYS  # of the statement at hand
        self._name = action.path.rpartition(".")[2]

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
            return self._comparison(node)
        return self._unit.compare("!=", [(1, self._operand(node))], node.position)

    def _comparison(self, node: syntax.Binary) -> int:
        compared = types.underlying(node.left.type)  # type: ignore[arg-type]
        terms = [*self._terms(node.left, 1), *self._terms(node.right, -1)]
        match terms:
            case [(sign, Number(left)), (other, Number(right))]:
                sides = types.wrap(sign * left, compared), types.wrap(-other * right, compared)
                holds = fold_binary(node.operator, *sides, compared, node.position)
                return ALWAYS if holds else 0
        terms = [term for term in terms if term[1] != Number(0)]
        return self._unit.compare(node.operator, terms, node.position)

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
        elif is_unary(node, "~"):
            inner = self._without_casts(self._resolved(node.operand))
            is_bitwise = isinstance(inner, syntax.Binary) and inner.operator in _BITWISE
            operands = self._operands_of(inner) if is_bitwise else [inner]
        elif is_unary(node, "-"):
            operands = [node.operand]
        elif isinstance(node, syntax.Call) and node.target.name in ("min", "max"):
            operands = node.target.arguments
        if not operands:
            return Computation("copy", (self._operand(node),))
        kind, values = operation(node), tuple(map(self._operand, operands))
        if kind == ". - ." and isinstance(values[1], Number):
            return Computation(". + .", (values[0], self._complement(values[1].value)))
        return Computation(kind, values)

    def _complement(self, value: int) -> Number:
        """The compiler adds this instead of subtracting the constant, even if it is larger."""
        return Number(-value if self._signed else -value % (1 << self._width))

    def _operands_of(self, operation: syntax.Binary) -> list[syntax.Expression]:
        """Without the complement that one operand of a bitwise operation may have."""
        operands = [self._resolved(side) for side in (operation.left, operation.right)]
        complemented = [side for side in operands if is_unary(side, "~")]
        if operation.operator not in _BITWISE or len(complemented) != 1:
            return operands
        return [side.operand if side in complemented else side for side in operands]

    def _operand(self, node: syntax.Expression | None) -> Operand:
        assert node is not None
        node = self._resolved(node)
        if node.value is not None:
            return Number(int(node.value))
        stripped = self._without_casts(node)
        if is_parameter(stripped):
            return Parameter(stripped.target.base.symbol.name)
        half = self._half(stripped)
        if half is not None:
            return self._read(half, node)
        if isinstance(stripped, Frozen):
            return self._old(stripped, node)
        if isinstance(stripped, Computed):
            raise self._refuse(stripped, _FROM_COMPUTED, "the cell as it was read")
        if self._reads_cell(stripped):
            raise self._refuse(stripped, "this expression as an operand", "one operation per value")
        width = types.width_of(node.type)  # type: ignore[arg-type]
        direct = is_field(stripped) and width == types.width_of(stripped.type)  # type: ignore[arg-type]
        if not direct and not is_wiring(node):
            raise self._refuse(node, "this expression as an operand", "one operation per value")
        return Input(shape(stripped), width or 0, direct)

    def _read(self, half: int, at: syntax.Expression) -> Operand:
        """The half, or what was copied to it."""
        if not self._written.get(half, 0) & self._predicate:
            return Half(half)
        operand, predicate = self._copies.get(half, (Half(half), 0))
        if self._predicate & ~predicate:
            raise self._refuse(at, _FROM_COMPUTED, "the cell as it was read")
        return operand

    def _old(self, field: Frozen, at: syntax.Expression) -> Half:
        if field.written & self._predicate:
            raise self._refuse(at, _FROM_COMPUTED, "the cell as it was read")
        return Half(field.half)

    # --- What names mean --------------------------------------------------------------------------

    def _resolved(self, node: syntax.Expression) -> syntax.Expression:
        """A local variable is what it was made from."""
        if isinstance(node, syntax.Member) and self._locals.has(node.base):
            return self._part(self._resolved(node.base), node)
        if not self._locals.has(node):
            return node
        value = self._locals.read(node, self._predicate)
        if value is None:
            raise self._refuse(node, "a variable without a value", "its value itself")
        if not isinstance(value, Computed) and self._locals.is_stale(value, self._predicate):
            assert isinstance(node.symbol, VariableSymbol)
            self._keep(node.symbol, node)
        return value

    def _part(self, pair: syntax.Expression, node: syntax.Member) -> syntax.Expression:
        assert self._fields is None or node.name in self._fields
        if self._fields is not None and isinstance(pair, syntax.ListExpression):
            return pair.items[self._fields.index(node.name)]
        if isinstance(pair, syntax.StructExpression):
            return next(item.expression for item in pair.items if item.name == node.name)
        return node

    def _frozen(self, node: syntax.Expression) -> syntax.Expression:
        """What a local variable gets: whatever is written later, this stays."""
        return replaced(node, self._as_it_is)

    def _as_it_is(self, node: syntax.Expression) -> syntax.Expression | None:
        value = self._resolved(node)
        if value is not node or node.value is not None:
            return value
        if self._fields is not None and self._is_cell(node):
            halves = [self._freeze(half, node) for half in range(len(self._fields))]
            pair = syntax.ListExpression(node.position, halves)
            pair.type = node.type
            return pair
        half = None if isinstance(node, Frozen) else self._half(node)
        return None if half is None else self._freeze(half, node)

    def _freeze(self, half: int, node: syntax.Expression) -> Frozen:
        frozen = Frozen(node.position, half, self._written.get(half, 0))
        frozen.type = node.type
        return frozen

    def _is_cell(self, node: syntax.Node) -> bool:
        return isinstance(node, syntax.Name) and node.symbol is self._cell

    def _is_result(self, node: syntax.Node) -> bool:
        return isinstance(node, syntax.Name) and node.symbol is self._result

    def _half(self, node: syntax.Expression) -> int | None:
        if isinstance(node, Frozen):
            return None if self._locals.is_stale(node, self._predicate) else node.half
        if self._fields is None:
            return 0 if self._is_cell(node) else None
        if isinstance(node, syntax.Member) and self._is_cell(node.base):
            return self._fields.index(node.name)
        return None

    def _reads_cell(self, node: syntax.Expression) -> bool:
        return any(
            isinstance(part, (Frozen, Computed))
            or self._is_cell(part)
            or self._is_result(part)
            or self._locals.has(part)
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

    def _keep(self, variable: VariableSymbol, at: syntax.Expression) -> None:
        """It stands for more than an expression; the compiler wants it as wide as the cell."""
        self.has_local = True
        type_ = types.underlying(variable.type)
        is_number = isinstance(type_, (types.Bit, types.Int))
        if not isinstance(type_, types.Composite) and not (
            is_number and types.width_of(type_) == self._width
        ):
            what = f"a local variable of {variable.type}"
            raise self._refuse(at, what, f"one of {self._width} bits")


def is_unary(node: syntax.Expression, operator: str) -> TypeGuard[syntax.Unary]:
    return node.value is None and isinstance(node, syntax.Unary) and node.operator == operator


def is_parameter(node: syntax.Expression) -> TypeGuard[syntax.Call]:
    """Whether it reads a RegisterParam."""
    if not isinstance(node, syntax.Call) or node.target is None or node.target.kind != "method":
        return False
    type_ = node.target.base.type
    return isinstance(type_, types.Generic) and type_.name == "RegisterParam"


def is_operation(node: syntax.Expression) -> bool:
    if node.value is not None:
        return False
    if isinstance(node, syntax.Call):
        return not is_parameter(node)
    return isinstance(node, (syntax.Unary, syntax.Binary)) and node.operator != "++"


def are_too_many_casts(node: syntax.Expression) -> bool:
    """As a result; anything else may have them."""
    casts = 0
    while isinstance(node, syntax.Cast) and node.value is None:
        casts, node = casts + 1, node.operand
    return casts > MAX_CASTS


def ends_with_cell(node: syntax.Expression) -> bool:
    """The compiler keeps a variable for a copy of the cell if its first value ends with it."""
    if isinstance(node, syntax.Conditional):
        return ends_with_cell(node.then)
    if isinstance(node, syntax.Cast) or is_unary(node, "~"):
        return ends_with_cell(node.operand)
    if isinstance(node, syntax.Binary):
        if node.left.value is not None and node.operator in _COMMUTATIVE:
            return False  # the compiler exchanges the sides
        are_two = node.operator == "|" and any(map(is_operation, (node.left, node.right)))
        return ends_with_cell(node.left if are_two else node.right)
    if isinstance(node, syntax.Call):
        return not is_parameter(node) and ends_with_cell(node.target.arguments[-1])
    return isinstance(node, Frozen)


def is_field(node: syntax.Expression) -> bool:
    if isinstance(node, syntax.Slice):
        node = node.base
    return isinstance(node, (syntax.Name, syntax.Member))


def is_wiring(node: syntax.Expression) -> bool:
    """Casts, slices and concatenations of fields: no computation."""
    if node.value is not None or is_field(node):
        return True
    if isinstance(node, syntax.Cast):
        return is_wiring(node.operand)
    if isinstance(node, syntax.Binary) and node.operator == "++":
        return is_wiring(node.left) and is_wiring(node.right)
    return False


def operation(node: syntax.Node) -> str:
    """The operation with its complements; `.` stands for an operand."""
    if isinstance(node, syntax.Unary):
        return node.operator + operation(node.operand)
    if isinstance(node, syntax.Binary):
        return f"{operation(node.left)} {node.operator} {operation(node.right)}"
    return node.target.name if isinstance(node, syntax.Call) else "."
