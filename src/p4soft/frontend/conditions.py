"""Evaluates the expression of an #if, by precedence climbing, in 64 bits as the C preprocessor."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from p4soft.errors import P4Error, Position
from p4soft.frontend.lexer import Kind, Token
from p4soft.frontend.numbers import parse_integer

_BITS = 64
_PRECEDENCE = {
    "?": 1, "||": 2, "&&": 3, "|": 4, "^": 5, "&": 6, "==": 7, "!=": 7, "<": 8, ">": 8, "<=": 8,
    ">=": 8, "<<": 9, ">>": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "+": operator.add,
    "-": operator.sub, "*": operator.mul,
}  # fmt: skip
_UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
}
_C_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uU]?(?:l|L|ll|LL)?|[lL]{1,2}[uU])")


@dataclass(frozen=True, slots=True)
class _Value:
    number: int
    is_unsigned: bool = False

    @classmethod
    def of(cls, number: int, is_unsigned: bool) -> _Value:
        """The low 64 bits."""
        number &= (1 << _BITS) - 1
        if not is_unsigned and number >> (_BITS - 1):
            number -= 1 << _BITS
        return cls(number, is_unsigned)


class _Condition:
    def __init__(self, tokens: list[Token], position: Position) -> None:
        self._tokens = tokens
        self._position = position
        self._index = 0
        self._is_dead = False  # what `0 &&` and the like leave without a value

    def evaluate(self) -> int:
        value = self._binary(0)
        if self._index < len(self._tokens):
            token = self._tokens[self._index]
            raise P4Error(token.position, f"unexpected {token} in the condition of #if")
        return value.number

    def _peek(self) -> str:
        if self._index >= len(self._tokens):
            return ""
        text = self._tokens[self._index].text
        following = self._tokens[self._index + 1 : self._index + 2]
        if text == ">" and following and following[0].text == ">" and following[0].glued:
            return ">>"  # the lexer gives it as two
        return text

    def _binary(self, lowest: int) -> _Value:
        left = self._unary()
        while _PRECEDENCE.get(self._peek(), 0) > lowest:
            name = self._peek()
            position = self._tokens[self._index].position
            self._index += 2 if name == ">>" else 1
            if name == "?":
                left = self._choice(left, position)
            elif name in ("&&", "||"):
                decided = bool(left.number) == (name == "||")
                right = self._operand(_PRECEDENCE[name], is_dead=decided)
                left = _Value(int(decided == (name == "||") if decided else bool(right.number)))
            else:
                left = self._computed(name, left, self._binary(_PRECEDENCE[name]), position)
        return left

    def _operand(self, lowest: int, *, is_dead: bool) -> _Value:
        outer, self._is_dead = self._is_dead, self._is_dead or is_dead
        value = self._binary(lowest)
        self._is_dead = outer
        return value

    def _choice(self, condition: _Value, position: Position) -> _Value:
        then = self._operand(0, is_dead=not condition.number)
        if self._peek() != ":":
            raise P4Error(position, "'?' without ':' in the condition of #if")
        self._index += 1
        otherwise = self._operand(_PRECEDENCE["?"] - 1, is_dead=bool(condition.number))
        chosen = then if condition.number else otherwise
        return _Value.of(chosen.number, then.is_unsigned or otherwise.is_unsigned)

    def _computed(self, name: str, left: _Value, right: _Value, position: Position) -> _Value:
        if name in ("<<", ">>"):
            amount = right.number if name == "<<" else -right.number
            # More is the same: nothing is left, or the sign.
            amount = max(-_BITS, min(_BITS, amount))
            shifted = left.number << amount if amount >= 0 else left.number >> -amount
            return _Value.of(shifted, left.is_unsigned)
        is_unsigned = left.is_unsigned or right.is_unsigned
        one, other = (_Value.of(each.number, is_unsigned).number for each in (left, right))
        if name in _COMPARISONS:
            return _Value(int(_COMPARISONS[name](one, other)))
        if name in _ARITHMETIC:
            return _Value.of(_ARITHMETIC[name](one, other), is_unsigned)
        if other == 0:
            if self._is_dead:
                return _Value(0, is_unsigned)
            raise P4Error(position, "the condition of #if divides by zero")
        quotient = abs(one) // abs(other)  # towards zero
        quotient = quotient if (one < 0) == (other < 0) else -quotient
        return _Value.of(quotient if name == "/" else one - quotient * other, is_unsigned)

    def _unary(self) -> _Value:
        if self._index >= len(self._tokens):
            raise P4Error(self._position, "the condition of #if ends too early")
        token = self._tokens[self._index]
        self._index += 1
        if token.text == "!":
            return _Value(int(not self._unary().number))
        if token.text in _UNARY:
            operand = self._unary()
            return _Value.of(_UNARY[token.text](operand.number), operand.is_unsigned)
        if token.text == "(":
            value = self._binary(0)
            if self._peek() != ")":
                raise P4Error(
                    token.position, "this parenthesis in the condition of #if is not closed"
                )
            self._index += 1
            return value
        if token.kind in (Kind.INTEGER, Kind.BAD_NUMBER):
            return _literal(token)
        if token.kind is Kind.IDENTIFIER:
            return _Value(0)  # as in C: a name that is no macro
        raise P4Error(token.position, f"unexpected {token} in the condition of #if")


def _literal(token: Token) -> _Value:
    """A number as C has them, 0x10, 010 (octal) or 16UL, or else as P4 has them."""
    match = _C_INTEGER.fullmatch(token.text)
    if match is None and token.kind is Kind.INTEGER:
        return _Value.of(parse_integer(token).value, False)
    digits, suffix = match.groups() if match else ("", "")
    is_octal = digits.startswith("0") and digits.isdecimal()
    if match is None or (is_octal and re.search("[89]", digits)):
        raise P4Error(token.position, f"{token} is no number in the condition of #if")
    if is_octal:
        digits = "0o" + digits
    number = parse_integer(Token(Kind.INTEGER, digits, token.position)).value
    if number >> _BITS:
        raise P4Error(
            token.position, f"{token} has more than {_BITS} bits; #if computes with as many"
        )
    return _Value(number, "u" in suffix.lower() or bool(number >> (_BITS - 1)))


def evaluate_condition(tokens: list[Token], position: Position) -> int:
    """The value of an #if's tokens, macros already expanded. `position` is the directive's."""
    return _Condition(tokens, position).evaluate()
