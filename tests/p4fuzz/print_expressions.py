"""Expressions as P4, with as few or as many parentheses as chance wants.

Binding is that of the P4_16 grammar (p4c's p4parser.ypp), from loose to tight:
    ?:  ||  &&  == !=  < <= > >=  |  ^  &  << >>  ++ + - |+| |-|  * / %  prefix, casts  postfix
"""

from __future__ import annotations

import random

from . import tree

_LEVELS = {
    operator: level
    for level, operators in enumerate(
        ["||", "&&", "== !=", "< <= > >=", "|", "^", "&", "<< >>", "++ + - |+| |-|", "* / %"],
        start=1,
    )
    for operator in operators.split()
}
_CONDITIONAL, _PREFIX, _POSTFIX = 0, 20, 30


class ExpressionPrinter:
    def __init__(self, layout: int) -> None:
        self.random = random.Random(layout)
        self.aliases: dict[tree.Type, str] = {}  # names of typedefs

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def type_(self, type_: tree.Type) -> str:
        if isinstance(type_, (tree.HeaderType, tree.Enum)):
            return type_.name
        if type_ in self.aliases and self.chance(0.4):
            return self.aliases[type_]
        if isinstance(type_, tree.Bool):
            return "bool"
        width = type_.width
        written = str(width)
        if self.chance(0.05):
            written = f"({width - 1} + 1)"
        if type_ == tree.Bits(1) and self.chance(0.3):
            return "bit"
        return f"{'int' if type_.signed else 'bit'}<{written}>"

    # --- Numbers ------------------------------------------------------------------------------

    def digits(self, number: int) -> str:
        """Of a number that is not negative, in some base."""
        forms = (f"{number}", f"0x{number:x}", f"0X{number:X}", f"0b{number:b}", f"0o{number:o}")
        text = self.random.choices(forms, (5, 3, 1, 1, 1))[0]
        if len(text) > 4 and text[0] != "0" and self.chance(0.2):
            text = text[:2] + "_" + text[2:]
        return text

    def number(self, type_: tree.Bits, raw: int, bare: bool) -> tuple[str, int]:
        """Text and level of a literal."""
        negative = type_.signed and raw >> type_.width - 1
        if not negative:
            prefix = "" if bare else f"{type_.width}{'s' if type_.signed else 'w'}"
            return prefix + self.digits(raw), _POSTFIX
        magnitude = (1 << type_.width) - raw
        if bare:
            return f"-{self.digits(magnitude)}", _PREFIX
        if magnitude >> type_.width - 1 or self.chance(0.3):  # the least one has no other form
            return f"({self.type_(type_)}) (-{self.digits(magnitude)})", _PREFIX
        return f"-{type_.width}s{self.digits(magnitude)}", _PREFIX

    def member(self, type_: tree.Enum, value: int) -> tuple[str, int]:
        """Text and level of a value, which may have no name."""
        names = [name for name, number in type_.members if number == value]
        if names:
            return f"{type_.name}.{names[0]}", _POSTFIX
        digits, _ = self.number(tree.Bits(type_.width), value, bare=False)
        return f"({type_.name}) {digits}", _PREFIX

    # --- Expressions --------------------------------------------------------------------------

    def text(self, expression: tree.Expression, around: int = 0) -> str:
        """around: the level that the expression must have at least."""
        written, level = self._text(expression)
        return f"({written})" if level < around or self.chance(0.15) else written

    def _text(self, e: tree.Expression) -> tuple[str, int]:  # noqa: PLR0912
        match e:
            case tree.Literal(type=tree.Bool()):
                return ("true" if e.value else "false"), _POSTFIX
            case tree.Literal(type=tree.Enum() as enum):
                return self.member(enum, e.value)
            case tree.Literal():
                return self.number(e.type, e.value, e.bare)
            case tree.Named():
                return e.constant.name, _POSTFIX
            case tree.Place():
                return e.name, _POSTFIX
            case tree.Unary():
                # Two signs in a row are one token of C.
                return e.operator + self.text(e.operand, _PREFIX + (e.operator == "-")), _PREFIX
            case tree.Binary(operator="min" | "max"):
                return f"{e.operator}({self.text(e.left)}, {self.text(e.right)})", _POSTFIX
            case tree.Binary():
                return self._infix(e.operator, e.left, e.right)
            case tree.Concat():
                return self._infix("++", e.left, e.right)
            case tree.Shift():
                level = _LEVELS[e.operator]
                amount = self.digits(e.amount)
                return f"{self.text(e.operand, level)} {e.operator} {amount}", level
            case tree.Cast():
                return f"({self.type_(e.type)}) {self.text(e.operand, _PREFIX)}", _PREFIX
            case tree.Slice():
                return f"{self.text(e.operand, _POSTFIX)}[{e.high}:{e.low}]", _POSTFIX
            case tree.Conditional():
                parts = (e.condition, e.then, e.otherwise)
                condition, then, otherwise = (self.text(part, 1) for part in parts)
                return f"{condition} ? {then} : {otherwise}", _CONDITIONAL
            case tree.IsValid():
                return f"{e.header}.isValid()", _POSTFIX
            case tree.HashOf():
                return f"{e.hash.name}.get({{{self.list_(e.data)}}})", _POSTFIX
            case tree.Applied():
                return f"{e.table.name}.apply().{e.member}", _POSTFIX
            case tree.Execute():
                index = "" if e.index is None else self.text(e.index)
                return f"{e.action.name}.execute({index})", _POSTFIX
            case tree.Filtered():
                given = f"{self.text(e.value)}, {self.text(e.index)}"
                return f"{e.filter.name}.execute({given})", _POSTFIX
            case tree.Item():
                return f"{e.name}[{e.number}]", _POSTFIX
            case tree.SameTuples():
                return f"({e.left} == {e.right})", _POSTFIX
            case tree.MeterColor():
                return f"{e.meter.name}.execute({self._asked(e)})", _POSTFIX
            case tree.Verify():
                return f"{e.checksum}.verify()", _POSTFIX
            case tree.LastIndex():
                return f"{e.stack.name}.lastIndex", _POSTFIX
            case tree.Last():
                return f"{e.stack.name}.last.{e.field}", _POSTFIX
            case tree.Lookahead():
                return f"pkt.lookahead<{self.type_(e.type)}>()", _POSTFIX
            case tree.CallFunction():
                return f"{e.function.name}({self.arguments(e.function, e.arguments)})", _POSTFIX
        raise TypeError(f"the printer does not know {type(e).__name__}")

    def _asked(self, e: tree.MeterColor) -> str:
        """A colour with its name: p4c finds it ambiguous without."""
        index = "" if e.index is None else self.text(e.index)
        if e.color is None:
            return index
        color = f"color = (MeterColor_t) {self.text(e.color, _PREFIX)}"
        return f"index = {index}, {color}" if index else color

    def _infix(
        self, operator: str, left: tree.Expression, right: tree.Expression
    ) -> tuple[str, int]:
        level = _LEVELS[operator]
        space = self.random.choice([" ", " ", " ", "\n            "])
        after = "" if operator in ("&", "|", "^", "*") and self.chance(0.1) else " "
        texts = self.text(left, level), self.text(right, level + 1)
        return f"{texts[0]}{space}{operator}{after}{texts[1]}", level

    def list_(self, expressions: list[tree.Expression]) -> str:
        return ", ".join(self.text(each) for each in expressions)

    def arguments(self, callee: tree.Callable, arguments: list[tree.Expression]) -> str:
        """By position, or by name in the same order."""
        if not self.chance(0.15):
            return self.list_(arguments)
        pairs = zip(callee.parameters, arguments, strict=True)
        return ", ".join(f"{parameter.name} = {self.text(value)}" for parameter, value in pairs)
