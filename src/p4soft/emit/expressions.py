"""Expressions. `value(e)` returns C++ text; what must happen before goes to `self.lines` first.

P4 evaluates operands from left to right. A text is read later than the lines of the operands after
it, so where there are such lines the value goes to a variable (emit.order).
"""

from __future__ import annotations

from collections.abc import Callable as Function

from p4soft.check import types
from p4soft.check.symbols import VariableSymbol
from p4soft.emit.cpp_types import cpp_constant, cpp_type
from p4soft.emit.naming import expression_text, identifier
from p4soft.emit.order import OrderedEmitter, Part, header_parts
from p4soft.errors import unsupported
from p4soft.frontend import syntax

_FUNCTIONS = {
    "+": "add", "-": "sub", "*": "mul", "&": "bit_and", "|": "bit_or", "^": "bit_xor",
    "|+|": "sat_add", "|-|": "sat_sub", "<<": "shift_left", ">>": "shift_right",
}  # fmt: skip


class ExpressionEmitter(OrderedEmitter):
    def call(self, call: syntax.Call) -> str:
        raise NotImplementedError

    def value(self, expression: syntax.Expression) -> str:
        assert expression.type is not None
        if expression in self.saved_places:
            return self.saved_places[expression]
        if expression.value is not None and not isinstance(expression.value, str):
            return cpp_constant(expression.value, expression.type)
        emitters: dict[type, Function[..., str]] = {
            syntax.Name: self._name,
            syntax.Member: self._member,
            syntax.Index: self._index,
            syntax.Slice: self._slice,
            syntax.Unary: self._unary,
            syntax.Binary: self._binary,
            syntax.Conditional: self._conditional,
            syntax.Cast: self._cast,
            syntax.Call: self.call,
            syntax.ListExpression: self._list,
            syntax.StructExpression: self._list,
        }
        emitter = emitters.get(type(expression))
        if emitter is None:
            raise unsupported(expression.position, "this expression", "values, operators and calls")
        return emitter(expression)

    # --- Places -----------------------------------------------------------------------------------

    def _name(self, name: syntax.Name) -> str:
        symbol = name.symbol
        if not isinstance(symbol, VariableSymbol):
            raise unsupported(
                name.position, f"'{name.name}' as a value", "variables, parameters and constants"
            )
        if symbol.initializer is not None:
            return self.value(symbol.initializer)
        return self.variable(symbol)

    def variable(self, symbol: VariableSymbol) -> str:
        if isinstance(symbol.type, types.Generic):
            return {"packet_in": "reader_", "packet_out": "writer_"}[symbol.type.name]
        if symbol.role == "constructor":
            return cpp_constant(self.instance(symbol), symbol.type)
        if symbol.role == "member" or symbol in self.frame_symbols:
            return f"frame_.{identifier(symbol.name)}"
        return identifier(symbol.name)

    def _member(self, member: syntax.Member) -> str:
        base_type = member.base.type
        base = self.value(member.base)
        if isinstance(base_type, types.Stack):
            special = {
                "next": f"{base}.items[{base}.next]",
                "last": f"{base}.last()",
                "lastIndex": f"{base}.last_index()",
            }
            return special[member.name]
        if isinstance(base_type, types.ApplyResult):
            return {"hit": f"{base}.hit", "miss": f"!{base}.hit", "action_run": f"{base}.action"}[
                member.name
            ]
        return f"{base}.{identifier(member.name)}"

    def _index(self, index: syntax.Index) -> str:
        base = self.value(index.base)
        if isinstance(index.base.type, types.Tuple):
            return f"std::get<{index.index.value}>({base})"
        return f"{base}.items[{index.index.value}]"

    def _slice(self, part: syntax.Slice) -> str:
        return f"slice<{part.high.value}, {part.low.value}>({self.value(part.base)})"

    def store(self, target: syntax.Expression, text: str) -> None:
        """Assigns C++ text to a place."""
        if isinstance(target, syntax.Slice):
            assert target.base.type is not None
            width = types.width_of(target.base.type)
            bounds = f"{width}, {target.high.value}, {target.low.value}"
            self.store(target.base, f"with_slice<{bounds}>({self.value(target.base)}, {text})")
        else:
            self.lines.add(f"{self.value(target)} = {text};")

    # --- Operators --------------------------------------------------------------------------------

    @staticmethod
    def _operations(type_: types.Type) -> tuple[str, int]:
        base = types.underlying(type_)
        assert isinstance(base, (types.Bit, types.Int))
        return ("bit_ops" if isinstance(base, types.Bit) else "int_ops"), base.width

    def _unary(self, unary: syntax.Unary) -> str:
        operand = self.value(unary.operand)
        if unary.operator == "!":
            return f"(!{operand})"
        if unary.operator == "+":
            return operand
        assert unary.type is not None
        namespace, width = self._operations(unary.type)
        function = "negate" if unary.operator == "-" else "complement"
        return f"{namespace}::{function}<{width}>({operand})"

    def _binary(self, binary: syntax.Binary) -> str:
        operator = binary.operator
        if operator in ("&&", "||"):
            return self._short_circuit(binary)
        if operator in ("<<", ">>") and binary.right.value is not None:
            left = self.value(binary.left)
            right = f"{min(binary.right.value, 4096)}U"  # all beyond the width are the same
        else:
            left, right = self.values([binary.left, binary.right])
        if operator in ("==", "!=", "<", "<=", ">", ">="):
            return f"({left} {operator} {right})"
        assert binary.type is not None
        namespace, width = self._operations(binary.type)
        if operator == "++":
            assert binary.right.type is not None
            text = f"concat<{width}, {types.width_of(binary.right.type)}>({left}, {right})"
            return text if namespace == "bit_ops" else f"to_int<{width}>({text})"
        return f"{namespace}::{_FUNCTIONS[operator]}<{width}>({left}, {right})"

    def _short_circuit(self, binary: syntax.Binary) -> str:
        left = self.value(binary.left)
        right, before = self.captured(lambda: self.value(binary.right))
        if before.is_empty():
            return f"({left} {binary.operator} {right})"
        result = self.temporary("logical")
        self.lines.add(f"bool {result} = {left};")
        with self.lines.braces(f"if ({'' if binary.operator == '&&' else '!'}{result})"):
            self.lines.append(before)
            self.lines.add(f"{result} = {right};")
        return result

    def _conditional(self, conditional: syntax.Conditional) -> str:
        condition = self.value(conditional.condition)
        then, before_then = self.captured(lambda: self.value(conditional.then))
        otherwise, before_otherwise = self.captured(lambda: self.value(conditional.otherwise))
        if before_then.is_empty() and before_otherwise.is_empty():
            return f"({condition} ? {then} : {otherwise})"
        assert conditional.type is not None
        result = self.temporary("chosen")
        self.lines.add(f"{cpp_type(conditional.type)} {result};")
        with self.lines.braces(f"if ({condition})"):
            self.lines.append(before_then)
            self.lines.add(f"{result} = {then};")
        with self.lines.braces("else"):
            self.lines.append(before_otherwise)
            self.lines.add(f"{result} = {otherwise};")
        return result

    def _cast(self, cast: syntax.Cast) -> str:
        operand = self.value(cast.operand)
        assert cast.type is not None and cast.operand.type is not None
        source, target = types.underlying(cast.operand.type), types.underlying(cast.type)
        if source == target or isinstance(target, types.Composite):
            return operand
        if target == types.BOOL:
            return f"({operand} != 0)"
        _, width = self._operations(target)
        return f"to_{'bit' if isinstance(target, types.Bit) else 'int'}<{width}>({operand})"

    # --- Lists ------------------------------------------------------------------------------------

    def _list(self, expression: syntax.ListExpression | syntax.StructExpression) -> str:
        type_ = expression.type
        if isinstance(expression, syntax.ListExpression):
            parts = self.values(expression.items)
        else:
            texts = self.values([item.expression for item in expression.items])
            given = dict(zip((item.name for item in expression.items), texts, strict=True))
            names = list(type_.fields) if isinstance(type_, types.Composite) else list(given)
            parts = [given[name] for name in names]
        if isinstance(type_, types.Composite):
            valid = ["true"] if type_.is_header else []
            return f"{cpp_type(type_)}{{{', '.join(valid + parts)}}}"
        if isinstance(type_, types.Tuple):
            return f"{cpp_type(type_)}{{{', '.join(parts)}}}"
        if isinstance(type_, types.Stack):
            return f"{cpp_type(type_)}{{{{{{{', '.join(parts)}}}}}, 0}}"
        raise unsupported(
            expression.position, "a list here", "lists as arguments of Hash, Checksum and select"
        )

    def flatten(self, expression: syntax.Expression) -> list[Part]:
        """The scalars of a list, header or struct."""
        assert expression.type is not None
        if isinstance(expression, (syntax.ListExpression, syntax.StructExpression)):
            return self._flatten_list(expression)
        name = "" if isinstance(expression, syntax.Cast) else expression_text(expression)
        valid = ""
        text = ""
        if isinstance(expression, syntax.Member) and expression.value is None:
            base_type = expression.base.type
            if isinstance(base_type, types.Composite) and base_type.is_header:
                base = self.value(expression.base)
                valid, text = f"{base}.valid_", f"{base}.{identifier(expression.name)}"
        whole = Part(text or self.value(expression), expression.type, valid, name)
        return self._flatten_value(whole, expression)

    def _flatten_list(
        self, expression: syntax.ListExpression | syntax.StructExpression
    ) -> list[Part]:
        type_ = expression.type
        if isinstance(expression, syntax.ListExpression):
            items = expression.items
        else:
            items = [item.expression for item in expression.items]
        by_name = isinstance(expression, syntax.StructExpression)
        if isinstance(type_, types.Composite) and (by_name or type_.is_flexible):
            # In the order and with the padding of the type.
            whole = Part(self.frozen(self.value(expression)), type_, "", type_.name)
            return self._flatten_value(whole, expression)
        steps = [lambda item=item: self.flatten(item) for item in items]
        return [part for parts in self.in_order(steps, self.frozen_parts) for part in parts]

    def _flatten_value(self, whole: Part, at: syntax.Node) -> list[Part]:
        text, type_, valid, name = whole
        parts: list[Part] | None = None
        if isinstance(type_, types.Composite) and type_.is_header:
            if types.varbit_of(type_) is not None:
                raise unsupported(
                    at.position, f"header {type_} here", "headers without a varbit field"
                )
            return list(header_parts(text, type_, name))
        if isinstance(type_, types.Composite):
            parts = [
                Part(f"{text}.{identifier(field)}", field_type, valid, f"{name}.{field}")
                for field, field_type in type_.fields.items()
            ]
        elif isinstance(type_, types.Stack):
            parts = [
                Part(f"{text}.items[{i}]", type_.element, valid, f"{name}[{i}]")
                for i in range(type_.size)
            ]
        elif isinstance(type_, types.Tuple):
            parts = [
                Part(f"std::get<{i}>({text})", element, valid, f"{name}[{i}]")
                for i, element in enumerate(type_.elements)
            ]
        if parts is not None:
            return [part for inner in parts for part in self._flatten_value(inner, at)]
        if types.width_of(type_) is None:
            raise unsupported(
                at.position, f"a value of type {type_} here", "bits, headers and structs of them"
            )
        return [whole]
