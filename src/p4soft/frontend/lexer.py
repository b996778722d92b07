"""Characters to tokens, with positions. Comments and white space are dropped here.

`>` is always a token of its own: whether `>>` is a shift or the end of two type argument lists is
for the parser to say, which looks at `Token.glued`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from p4soft.errors import P4Error, Position


class Kind(Enum):
    IDENTIFIER = "identifier"
    INTEGER = "integer"
    STRING = "string"
    PUNCTUATION = "punctuation"
    OTHER = "character"  # nothing of P4; an error unless the preprocessor skips it
    BAD_NUMBER = "number"  # the same: digits and letters that are no number
    END = "end of file"


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    position: Position
    first_on_line: bool = False
    glued: bool = False  # no white space between the previous token and this one
    is_name: bool = False  # it comes out of the macro of this name, and stands for itself

    def __str__(self) -> str:
        return "the end of the file" if self.kind is Kind.END else f"'{self.text}'"


_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\f]+ | \\[ \t\r]*\n | //(?:\\[ \t\r]*\n|[^\n])*)
    | (?P<newline>\n)
    | (?P<comment>/\*.*?\*/)
    | (?P<open_comment>/\*)
    | (?P<integer>
        (?:[0-9]+[ws])?
        (?:0[xX][0-9a-fA-F_]+ | 0[bB][01_]+ | 0[oO][0-7_]+ | 0[dD][0-9_]+ | [0-9][0-9_]*)
        (?![0-9A-Za-z_]))
    | (?P<bad_integer>[0-9][0-9A-Za-z_]*)
    | (?P<identifier>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<punctuation>\|\+\|=|\|-\|=|&&&|\.\.\.|<<=|\|\+\||\|-\||\+\+|&&|\|\||==|!=|<=|>=|<<|\.\.
        |\+=|-=|\*=|/=|%=|&=|\|=|\^=|[-+*/%&|^~!<>=?:;,.(){}\[\]@\#])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_KINDS = {"other": Kind.OTHER, "bad_integer": Kind.BAD_NUMBER}


def tokenize(text: str, file: str) -> list[Token]:
    """The tokens of one file, the last of kind END."""
    tokens: list[Token] = []
    line, line_start = 1, 0
    first_on_line, glued = True, False
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        lexeme = match.group()
        position = Position(file, line, match.start() - line_start + 1)
        if kind in ("space", "newline", "comment"):
            glued = False
            first_on_line = first_on_line or kind == "newline"
            if "\n" in lexeme:
                line += lexeme.count("\n")
                line_start = match.start() + lexeme.rindex("\n") + 1
            continue
        if kind == "open_comment":
            raise P4Error(position, "this comment does not end; expected '*/'")
        tokens.append(Token(_KINDS.get(kind) or Kind(kind), lexeme, position, first_on_line, glued))
        first_on_line, glued = False, True
    tokens.append(Token(Kind.END, "", Position(file, line, len(text) - line_start + 1), True))
    return tokens
