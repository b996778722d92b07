"""Expressions without calls: types, constants, and what can be assigned to."""

from __future__ import annotations

from collections.abc import Callable as Function

from p4soft.check import constants, types
from p4soft.check.constant_parts import constant_field
from p4soft.check.conversion import (
    cast_constant,
    check_cast,
    convert,
    cut_to,
    element_type,
    same,
)
from p4soft.check.operators import check_arithmetic, check_shift
from p4soft.check.symbols import InstanceSymbol, TableSymbol, VariableSymbol, near
from p4soft.check.type_resolver import TypeResolver
from p4soft.check.types import BOOL, INTEGER, Bit, Enum, Int, Type
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax

_ARITHMETIC = frozenset(("+", "-", "*", "&", "|", "^", "|+|", "|-|", "/", "%"))
_ORDER = frozenset(("<", "<=", ">", ">="))


class ExpressionChecker(TypeResolver):
    def check(self, expression: syntax.Expression) -> Type:
        """Sets and returns `expression.type`; sets `expression.value` if it is a compile-time
        constant.
        """
        if expression.type is not None:  # shared by a compound assignment
            return expression.type
        checkers: dict[type, Function[..., Type]] = {
            syntax.IntegerLiteral: self._integer,
            syntax.BoolLiteral: self._bool,
            syntax.StringLiteral: self._string,
            syntax.Name: self._name,
            syntax.Member: self._member,
            syntax.Index: self._index,
            syntax.Slice: self._slice,
            syntax.Unary: self._unary,
            syntax.Binary: self._binary,
            syntax.Conditional: self._conditional,
            syntax.Cast: self._cast,
            syntax.Call: self.check_call,
            syntax.ListExpression: self._list,
            syntax.StructExpression: self._struct,
            syntax.DefaultExpression: lambda _: types.ANY,
        }
        checker = checkers.get(type(expression))
        if checker is None:
            raise P4Error(
                expression.position, "a type, range or mask cannot stand here; expected a value"
            )
        expression.type = checker(expression)
        return expression.type

    def check_call(self, call: syntax.Call) -> Type:
        raise NotImplementedError

    def check_as(self, expression: syntax.Expression, target: Type, what: str) -> None:
        self.check(expression)
        convert(expression, target, what)

    # --- Leaves -----------------------------------------------------------------------------------

    def _integer(self, literal: syntax.IntegerLiteral) -> Type:
        literal.value = literal.number
        if literal.width is None:
            return INTEGER
        if literal.width > types.MAX_WIDTH:
            raise unsupported(
                literal.position,
                f"a literal of {literal.width} bits",
                f"widths up to {types.MAX_WIDTH}",
            )
        type_ = Int(literal.width) if literal.signed else Bit(literal.width)
        cut_to(literal, type_)
        return type_

    def _bool(self, literal: syntax.BoolLiteral) -> Type:
        literal.value = literal.truth
        return BOOL

    def _string(self, literal: syntax.StringLiteral) -> Type:
        literal.value = literal.text
        return types.STRING

    def _name(self, name: syntax.Name) -> Type:
        symbol = self.scope.require(name.name, name.position, name.is_global)
        name.symbol = symbol
        if isinstance(symbol, VariableSymbol):
            name.value = symbol.value
            return symbol.type
        if isinstance(symbol, (InstanceSymbol, TableSymbol)):
            return symbol.type
        raise P4Error(name.position, f"'{name.name}' is not a value")

    def _list(self, expression: syntax.ListExpression) -> Type:
        return types.ListOf(tuple(self.check(item) for item in expression.items))

    def _struct(self, expression: syntax.StructExpression) -> Type:
        elements = tuple(self.check(item.expression) for item in expression.items)
        return types.RecordOf(tuple(item.name or "" for item in expression.items), elements)

    # --- Parts ------------------------------------------------------------------------------------

    def _member(self, member: syntax.Member) -> Type:
        if isinstance(member.base, syntax.TypeExpression):
            return self._member_of_type(member, member.base)
        base = self.check(member.base)
        found = element_type(base, member.name)
        if found is not None:
            part = constant_field(member)
            member.value = None if part is None else part.value
            if isinstance(base, types.Stack) and not isinstance(self.owner, syntax.Parser):
                raise P4Error(
                    member.name_position,
                    f"'{member.name}' of a header stack exists in parsers only",
                )
            return found
        if isinstance(base, types.Stack) and member.name in ("lastIndex", "size"):
            if member.name == "size":
                member.value = base.size
            return Bit(32)
        if isinstance(base, types.ApplyResult):
            if member.name in ("hit", "miss"):
                return BOOL
            if member.name == "action_run":
                return types.ActionRun(base.table)
        fielded = isinstance(base, types.Composite) and not isinstance(base, types.Wide)
        names = list(base.fields) if fielded else []
        raise P4Error(
            member.name_position, f"{base} has no member '{member.name}'{near(member.name, names)}"
        )

    def _member_of_type(self, member: syntax.Member, base: syntax.TypeExpression) -> Type:
        type_ = self.resolve(base.syntax)
        base.type = type_
        if type_ == types.ERROR:
            if member.name not in self.errors:
                raise P4Error(member.name_position, f"error.{member.name} is not declared")
            member.value = self.errors[member.name]
            return types.ERROR
        if not isinstance(type_, Enum):
            raise P4Error(member.name_position, f"type {type_} has no member '{member.name}'")
        if member.name not in type_.members:
            hint = near(member.name, list(type_.members))
            raise P4Error(member.name_position, f"enum {type_} has no member '{member.name}'{hint}")
        member.value = type_.members[member.name]
        return type_

    def _index(self, index: syntax.Index) -> Type:
        base = self.check(index.base)
        if isinstance(base, types.Tuple):
            return self._element(index, base)
        if not isinstance(base, types.Stack):
            raise P4Error(
                index.position, f"{base} cannot be indexed; expected a header stack or a tuple"
            )
        subscript = self.check(index.index)
        if subscript != INTEGER and not isinstance(types.underlying(subscript), (Bit, Int)):
            raise P4Error(index.index.position, f"the index is {subscript}, expected a number")
        if index.index.value is None:
            raise unsupported(
                index.index.position,
                "a header stack's index that is no constant",
                "constant indexes",
            )
        if not 0 <= index.index.value < base.size:
            raise P4Error(
                index.index.position,
                f"index {index.index.value} is outside the stack's {base.size} elements",
            )
        return base.element

    def _element(self, index: syntax.Index, base: types.Tuple) -> Type:
        number = self.constant_integer(index.index, "the index of a tuple")
        if not 0 <= number < len(base.elements):
            raise P4Error(
                index.index.position,
                f"index {number} is outside the tuple's {len(base.elements)} elements",
            )
        return base.elements[number]

    def _slice(self, part: syntax.Slice) -> Type:
        base = types.underlying(self.check(part.base))
        high = self.constant_integer(part.high, "the upper end of a slice")
        low = self.constant_integer(part.low, "the lower end of a slice")
        if not isinstance(base, (Bit, Int)):
            raise P4Error(part.position, f"a slice of {part.base.type}; expected bit<W> or int<W>")
        if not 0 <= low <= high < base.width:
            raise P4Error(
                part.position,
                f"slice [{high}:{low}] is outside {base}; expected {base.width - 1} >= high >= "
                "low >= 0",
            )
        if part.base.value is not None:
            part.value = (part.base.value >> low) & ((1 << high - low + 1) - 1)
        return Bit(high - low + 1)

    # --- Operators --------------------------------------------------------------------------------

    def _unary(self, unary: syntax.Unary) -> Type:
        operand = self.check(unary.operand)
        if unary.operator == "!":
            convert(unary.operand, BOOL, "the operand of '!'")
            operand = BOOL
        else:
            operand = types.underlying(operand)
            wide_enough = isinstance(operand, (Bit, Int)) or (
                operand == INTEGER and unary.operator != "~"
            )
            if not wide_enough:
                raise P4Error(
                    unary.position,
                    f"'{unary.operator}' of {unary.operand.type}; expected bit<W> or int<W>",
                )
        if unary.operand.value is not None:
            unary.value = constants.fold_unary(unary.operator, unary.operand.value, operand)
        return operand

    def _binary(self, binary: syntax.Binary) -> Type:
        left, right = self.check(binary.left), self.check(binary.right)
        result = self._binary_type(binary, left, right)
        if binary.left.value is not None and binary.right.value is not None:
            binary.value = self._fold(binary, result)
        return result

    def _binary_type(self, binary: syntax.Binary, left: Type, right: Type) -> Type:
        operator = binary.operator
        if operator in ("&&", "||"):
            convert(binary.left, BOOL, f"the left operand of '{operator}'")
            convert(binary.right, BOOL, f"the right operand of '{operator}'")
            return BOOL
        if operator in ("<<", ">>"):
            return self._shift(binary, left, right)
        if operator == "++":
            return self._concatenation(binary, left, right)
        common = self.unify(binary.left, binary.right, f"operands of '{operator}'")
        if operator in ("==", "!="):
            return BOOL
        number = types.underlying(common)
        if not isinstance(number, (Bit, Int)) and number != INTEGER:
            raise P4Error(binary.position, f"'{operator}' of {common}; expected numbers")
        if operator in _ORDER:
            return BOOL
        assert operator in _ARITHMETIC
        check_arithmetic(binary)
        if operator in ("|+|", "|-|") and number == INTEGER:
            raise P4Error(
                binary.position, f"'{operator}' needs operands with a width, for example 8w1"
            )
        return number

    def unify(self, left: syntax.Expression, right: syntax.Expression, what: str) -> Type:
        """One type for two checked expressions."""
        a, b = left.type, right.type
        assert a is not None and b is not None
        if same(a, b):
            return b if a == types.ANY else a
        literals = (syntax.ListExpression, syntax.StructExpression)
        if a == INTEGER or isinstance(left, literals):
            convert(left, types.underlying(b) if a == INTEGER else b, f"left of the {what}")
        elif b == INTEGER or isinstance(right, literals):
            convert(right, types.underlying(a) if b == INTEGER else a, f"right of the {what}")
        elif isinstance(a, Enum) and a.base == types.underlying(b):
            convert(left, a.base, f"left of the {what}")
            return self.unify(left, right, what) if left.type != right.type else a.base
        elif isinstance(b, Enum) and b.base == a:
            convert(right, a, f"right of the {what}")
        if (
            left.type != right.type
            and types.underlying(left.type) != right.type
            and types.underlying(right.type) != left.type
        ):
            raise P4Error(
                right.position, f"the {what} have different types, {a} and {b}; cast one of them"
            )
        return types.underlying(left.type) if left.type != right.type else left.type

    def _shift(self, binary: syntax.Binary, left: Type, right: Type) -> Type:
        number = types.underlying(left)
        amount = types.underlying(right)
        if not isinstance(number, (Bit, Int)) and number != INTEGER:
            raise P4Error(binary.position, f"a shift of {left}; expected a number")
        if amount == INTEGER and (binary.right.value is None or binary.right.value < 0):
            raise P4Error(binary.right.position, "a shift needs a non-negative amount")
        if amount != INTEGER and not isinstance(amount, Bit):
            raise P4Error(binary.right.position, f"a shift by {right}; expected bit<W>")
        if number == INTEGER and binary.right.value is None:
            raise P4Error(
                binary.left.position, "the shifted constant needs a width, for example 32w1"
            )
        check_shift(binary)
        return number

    def _concatenation(self, binary: syntax.Binary, left: Type, right: Type) -> Type:
        a, b = types.underlying(left), types.underlying(right)
        for operand, type_ in ((binary.left, a), (binary.right, b)):
            if not isinstance(type_, (Bit, Int)):
                hint = "; write the constant with a width" if type_ == INTEGER else ""
                raise P4Error(operand.position, f"'++' of {operand.type}; expected bit<W>{hint}")
        assert isinstance(a, (Bit, Int)) and isinstance(b, (Bit, Int))
        width = a.width + b.width
        if width > types.MAX_WIDTH:
            raise unsupported(
                binary.position,
                f"a concatenation of {width} bits",
                f"widths up to {types.MAX_WIDTH}",
            )
        return Bit(width) if isinstance(a, Bit) else Int(width)

    def _fold(self, binary: syntax.Binary, result: Type) -> object:
        if binary.operator != "++":
            return constants.fold_binary(
                binary.operator, binary.left.value, binary.right.value, result, binary.position
            )
        assert binary.left.type and binary.right.type
        right = types.underlying(binary.right.type)
        assert isinstance(right, (Bit, Int))
        high = constants.raw_bits(binary.left.value, binary.left.type) << right.width
        return types.wrap(high | constants.raw_bits(binary.right.value, right), result)

    def _conditional(self, conditional: syntax.Conditional) -> Type:
        self.check_as(conditional.condition, BOOL, "the condition of '?:'")
        self.check(conditional.then)
        self.check(conditional.otherwise)
        common = self.unify(conditional.then, conditional.otherwise, "branches of '?:'")
        if conditional.condition.value is not None:
            conditional.value = (
                conditional.then if conditional.condition.value else conditional.otherwise
            ).value
        elif common == INTEGER:
            raise P4Error(
                conditional.then.position, "the branches of '?:' need a width, for example 8w1"
            )
        return common

    def _cast(self, cast: syntax.Cast) -> Type:
        target = self.resolve(cast.target)
        source = self.check(cast.operand)
        if isinstance(cast.operand, (syntax.ListExpression, syntax.StructExpression)):
            convert(cast.operand, target, "the list")
            return target
        check_cast(source, target, cast.position)
        if cast.operand.value is not None and not isinstance(cast.operand.value, str):
            cast.value = cast_constant(cast.operand.value, target, cast.position)
        return target

    # --- Places -----------------------------------------------------------------------------------

    def check_place(self, expression: syntax.Expression, what: str) -> Type:
        """The type of something that can be assigned to."""
        type_ = self.check(expression)
        root = expression
        while isinstance(root, (syntax.Member, syntax.Index, syntax.Slice)):
            root = root.base
        if not isinstance(root, syntax.Name) or not isinstance(root.symbol, VariableSymbol):
            raise P4Error(expression.position, f"{what} is not a variable")
        if not root.symbol.writable:
            reason = {
                "constant": "a constant",
                "constructor": "a constructor's parameter",
                "action_data": "a parameter without direction, set by the control plane",
            }.get(root.symbol.role, "an 'in' parameter")
            raise P4Error(expression.position, f"cannot assign to '{root.name}': it is {reason}")
        return type_
