"""Evaluates the expression of an #if, by precedence climbing."""

from __future__ import annotations

import operator
from collections.abc import Callable

from p4soft.errors import P4Error, Position
from p4soft.frontend.lexer import Kind, Token
from p4soft.frontend.numbers import parse_integer

_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda a, b: int(bool(a) or bool(b))),
    "&&": (2, lambda a, b: int(bool(a) and bool(b))),
    "|": (3, operator.or_),
    "^": (4, operator.xor),
    "&": (5, operator.and_),
    "==": (6, lambda a, b: int(a == b)),
    "!=": (6, lambda a, b: int(a != b)),
    "<": (7, lambda a, b: int(a < b)),
    ">": (7, lambda a, b: int(a > b)),
    "<=": (7, lambda a, b: int(a <= b)),
    ">=": (7, lambda a, b: int(a >= b)),
    "<<": (8, operator.lshift),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, operator.floordiv),
    "%": (10, operator.mod),
}
_UNARY: dict[str, Callable[[int], int]] = {
    "!": lambda a: int(not a),
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
}


class _Condition:
    def __init__(self, tokens: list[Token], position: Position) -> None:
        self._tokens = tokens
        self._position = position
        self._index = 0

    def evaluate(self) -> int:
        value = self._binary(0)
        if self._index < len(self._tokens):
            token = self._tokens[self._index]
            raise P4Error(token.position, f"unexpected {token} in the condition of #if")
        return value

    def _peek(self) -> str:
        return self._tokens[self._index].text if self._index < len(self._tokens) else ""

    def _binary(self, lowest: int) -> int:
        left = self._unary()
        while self._peek() in _BINARY and _BINARY[self._peek()][0] > lowest:
            precedence, function = _BINARY[self._peek()]
            position = self._tokens[self._index].position
            self._index += 1
            right = self._binary(precedence)
            try:
                left = function(left, right)
            except (ZeroDivisionError, ValueError) as error:
                raise P4Error(position, f"the condition of #if: {error}") from error
        return left

    def _unary(self) -> int:
        if self._index >= len(self._tokens):
            raise P4Error(self._position, "the condition of #if ends too early")
        token = self._tokens[self._index]
        self._index += 1
        if token.text in _UNARY:
            return _UNARY[token.text](self._unary())
        if token.text == "(":
            value = self._binary(0)
            if self._peek() != ")":
                raise P4Error(
                    token.position, "this parenthesis in the condition of #if is not closed"
                )
            self._index += 1
            return value
        if token.kind is Kind.INTEGER:
            return parse_integer(token).value
        if token.kind is Kind.IDENTIFIER:
            return 0  # as in C: a name that is no macro
        raise P4Error(token.position, f"unexpected {token} in the condition of #if")


def evaluate_condition(tokens: list[Token], position: Position) -> int:
    """The value of an #if's tokens, macros already expanded. `position` is the directive's."""
    return _Condition(tokens, position).evaluate()
