"""Macros, and what they stand for: as the C preprocessor has it (C11, 6.10.3).

A macro's text is read again with what follows its use, so that a macro may stand for the name of
another whose arguments follow. In its own text a macro is a name; such a name is none later either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from p4soft.errors import P4Error, Position
from p4soft.frontend.lexer import Kind, Token, tokenize

PASTE = "##"
DEFINED = "defined"
_OTHERS, _OTHERS_NAME = "...", "__VA_ARGS__"


@dataclass(frozen=True, slots=True)
class Macro:
    parameters: tuple[str, ...] | None  # None: used without parentheses
    body: tuple[Token, ...]


def define(words: Sequence[Token]) -> Macro:
    """The macro of a #define: its name, parameters and text."""
    name, *body = words
    parameters: tuple[str, ...] | None = None
    if body and body[0].text == "(" and body[0].glued:
        closing = next((i for i, token in enumerate(body) if token.text == ")"), None)
        if closing is None:
            raise P4Error(name.position, f"the parameters of macro {name.text} do not end")
        parameters = _parameters(body[1:closing])
        body = body[closing + 1 :]
    return Macro(parameters, tuple(_join_paste_operators(body)))


def macro_name(directive: Token, rest: Sequence[Token]) -> str:
    if not rest or rest[0].kind is not Kind.IDENTIFIER:
        raise P4Error(directive.position, f"#{directive.text} needs the name of a macro")
    return rest[0].text


def _parameters(written: Sequence[Token]) -> tuple[str, ...]:
    names: list[str] = []
    for place, token in enumerate(written):
        if place % 2:
            is_right = token.text == "," and place + 1 < len(written)
        elif token.text == _OTHERS:
            is_right = place + 1 == len(written)
            names.append(_OTHERS_NAME)
        else:
            is_right = token.kind is Kind.IDENTIFIER and token.text not in names
            names.append(token.text)
        if not is_right:
            raise P4Error(
                token.position,
                f"unexpected {token} in the parameters of a macro; "
                "expected different names with commas between them, or ... as the last",
            )
    return tuple(names)


def _join_paste_operators(body: list[Token]) -> list[Token]:
    """A macro's body with `##` as one token each."""
    result: list[Token] = []
    for token in body:
        if token.text != "#":
            result.append(token)
        elif result and result[-1].text == "#" and token.glued:
            result[-1] = replace(result[-1], text=PASTE)
        else:
            result.append(token)
    for number, token in enumerate(result):
        if token.text == "#":
            raise P4Error(token.position, "# in macros is not supported; ## is")
        if token.text == PASTE and number in (0, len(result) - 1):
            raise P4Error(token.position, "## needs a token on both sides")
    return result


def _paste(left: Token, right: Token, use: Position) -> Token:
    text = left.text + right.text
    try:
        first, *rest = tokenize(text, left.position.file)
    except P4Error:  # a comment
        rest = []
    if len(rest) != 1 or first.kind is Kind.BAD_NUMBER:
        raise P4Error(use, f"## makes '{text}', which is not one token")
    return replace(first, position=use, glued=left.glued)


class _Source:
    """Tokens to be read: of a file, and before the rest of it the texts of macros."""

    def __init__(self, tokens: Sequence[Token], index: int, disabled: frozenset[str]) -> None:
        self.index = index  # of the next token of the file
        self._tokens = tokens
        self._disabled = disabled
        self._texts: list[tuple[str, list[Token]]] = []  # of macros; what is left, reversed

    def push(self, macro: str, text: Sequence[Token]) -> None:
        self._texts.append((macro, list(reversed(text))))

    @property
    def disabled(self) -> frozenset[str]:
        """The macros whose text is being read."""
        return self._disabled | {name for name, _ in self._texts}

    def is_in_file(self) -> bool:
        """Whether the next token is the file's."""
        while self._texts and not self._texts[-1][1]:
            self._texts.pop()
        return not self._texts

    def peek(self) -> Token | None:
        """The next token; None at the end of the file."""
        if not self.is_in_file():
            return self._texts[-1][1][-1]
        at_end = self.index >= len(self._tokens) or self._tokens[self.index].kind is Kind.END
        return None if at_end else self._tokens[self.index]

    def take(self) -> Token:
        if self.is_in_file():
            token = self._tokens[self.index]
            self.index += 1
        else:
            token = self._texts[-1][1].pop()
        if token.kind is Kind.IDENTIFIER and token.text in self.disabled:
            return replace(token, is_name=True)
        return token


class Macros:
    """Those that are defined, by name."""

    def __init__(self) -> None:
        self._macros: dict[str, Macro] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._macros

    def __setitem__(self, name: str, macro: Macro) -> None:
        self._macros[name] = macro

    def remove(self, name: str) -> None:
        self._macros.pop(name, None)

    def expand(
        self,
        output: list[Token],
        tokens: Sequence[Token],
        index: int,
        disabled: frozenset[str] = frozenset(),
        *,
        in_condition: bool = False,
    ) -> int:
        """Appends what tokens[index] stands for; returns the index after what was used.
        in_condition: `defined NAME` stands for 0 or 1.
        """
        source = _Source(tokens, index, disabled)
        while True:
            token = source.take()
            name = token.text
            known = token.kind is Kind.IDENTIFIER and not token.is_name
            macro = self._macros.get(name) if known else None
            following = source.peek() if macro and macro.parameters is not None else None
            if in_condition and known and name == DEFINED:
                output.append(self._defined(token, source))
            elif macro is None:
                output.append(token)
            elif macro.parameters is None:
                source.push(name, self._text(macro, {}, {}, token))
            elif following is not None and following.text == "(":
                given = self._arguments(token, macro.parameters, source)
                hidden = source.disabled
                expanded = {
                    parameter: self.expand_all(argument, hidden, in_condition=in_condition)
                    for parameter, argument in given.items()
                }
                source.push(name, self._text(macro, given, expanded, token))
            else:
                output.append(token)
            if source.is_in_file():
                return source.index

    def expand_all(
        self,
        tokens: Sequence[Token],
        disabled: frozenset[str] = frozenset(),
        *,
        in_condition: bool = False,
    ) -> list[Token]:
        result: list[Token] = []
        index = 0
        while index < len(tokens):
            index = self.expand(result, tokens, index, disabled, in_condition=in_condition)
        return result

    def _defined(self, token: Token, source: _Source) -> Token:
        """Its operand is not expanded."""
        operand: list[Token] = []
        while (following := source.peek()) is not None and len(operand) < 3:
            operand.append(source.take())
            if following.text != "(" and len(operand) == 1:
                break
        parenthesized = bool(operand) and operand[0].text == "("
        if parenthesized and (len(operand) < 3 or operand[2].text != ")"):
            raise P4Error(token.position, "expected defined NAME or defined(NAME)")
        name = macro_name(token, operand[parenthesized:])
        return replace(token, kind=Kind.INTEGER, text="1" if name in self._macros else "0")

    def _text(
        self,
        macro: Macro,
        given: dict[str, list[Token]],
        expanded: dict[str, list[Token]],
        use: Token,
    ) -> list[Token]:
        """The macro's body with its arguments: expanded, but for the operands of `##`."""
        body: list[Token] = []
        pasting, left = False, 0  # where in `body` the left operand begins
        for number, part in enumerate(macro.body):
            if part.text == PASTE:
                pasting = True
                continue
            pasted_next = number + 1 < len(macro.body) and macro.body[number + 1].text == PASTE
            tokens = (given if pasting or pasted_next else expanded).get(part.text, [part])
            if not pasting:
                left = len(body)
            if pasting and tokens and len(body) > left:
                pasted = _paste(body.pop(), tokens[0], use.position)
                left = len(body)
                body += [pasted, *tokens[1:]]
            else:
                body += tokens
            pasting = False
        return [
            replace(part, position=use.position, first_on_line=i == 0 and use.first_on_line)
            for i, part in enumerate(body)
        ]

    def _arguments(
        self, name: Token, parameters: Sequence[str], source: _Source
    ) -> dict[str, list[Token]]:
        """By the names of the parameters, as they are written."""
        opening = source.take()
        values: list[list[Token]] = [[]]
        depth = 1
        has_others = parameters[-1:] == (_OTHERS_NAME,)
        while True:
            if source.peek() is None:
                raise P4Error(opening.position, "the arguments of this macro do not end")
            token = source.take()
            depth += (token.text == "(") - (token.text == ")")
            if depth == 0:
                break
            is_last = has_others and len(values) == len(parameters)
            if token.text == "," and depth == 1 and not is_last:
                values.append([])
            else:
                values[-1].append(token)
        if values == [[]] and not parameters:
            values = []
        if has_others and len(values) == len(parameters) - 1:
            values.append([])
        if len(values) != len(parameters):
            given = 0 if values == [[]] else len(values)
            raise P4Error(
                name.position,
                f"macro {name.text} takes {len(parameters)} arguments, {given} given",
            )
        return dict(zip(parameters, values, strict=True))
