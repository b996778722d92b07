"""The parser's view of the tokens: looking, taking, and which names are types."""

from __future__ import annotations

from p4soft.errors import P4Error, Position
from p4soft.frontend.lexer import Kind, Token

KEYWORDS = frozenset(
    """
    action actions apply bit bool const control default else entries enum error exit extern
    false header header_union if in inout int key match_kind type package parser out return
    select state string struct switch table this transition true tuple typedef varbit
    valueset void
    """.split()  # noqa: SIM905  a word list reads better than a hundred lines
)
# Keywords that may also name things: P4-16 specification, grammar rule `nonTypeName`.
SOFT_KEYWORDS = frozenset(["actions", "apply", "entries", "key", "state", "type", "priority"])
BASE_TYPES = frozenset(["bit", "int", "varbit", "bool", "error", "string", "void", "match_kind"])


class TokenStream:
    """Keeps the scopes of type names, because whether `a < b` compares depends on what `a` is."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._scopes: list[dict[str, bool]] = [{}]  # name -> it is a type

    # --- Looking ----------------------------------------------------------------------------------

    @property
    def position(self) -> Position:
        return self._tokens[self._index].position

    def peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._index + ahead, len(self._tokens) - 1)]

    def at(self, *texts: str) -> bool:
        token = self.peek()
        return token.text in texts and token.kind in (Kind.PUNCTUATION, Kind.IDENTIFIER)

    def at_shift_right(self) -> bool:
        return self.at(">") and self.peek(1).text == ">" and self.peek(1).glued

    def at_shift_right_assignment(self) -> bool:
        """`>>=`, which the lexer gives as `>` and `>=`."""
        return self.at(">") and self.peek(1).text == ">=" and self.peek(1).glued

    def at_end(self) -> bool:
        return self.peek().kind is Kind.END

    # --- Taking -----------------------------------------------------------------------------------

    def take(self) -> Token:
        token = self.peek()
        self._index += 1
        return token

    def accept(self, *texts: str) -> bool:
        if self.at(*texts):
            self._index += 1
            return True
        return False

    def expect(self, text: str, where: str) -> Token:
        if not self.at(text):
            raise P4Error(self.position, f"expected '{text}' {where}, found {self.peek()}")
        return self.take()

    def is_name(self, token: Token) -> bool:
        return token.kind is Kind.IDENTIFIER and (
            token.text not in KEYWORDS or token.text in SOFT_KEYWORDS
        )

    def name(self, what: str) -> str:
        token = self.peek()
        if not self.is_name(token):
            reserved = " (a keyword)" if token.text in KEYWORDS else ""
            raise P4Error(token.position, f"expected {what}, found {token}{reserved}")
        return self.take().text

    def mark(self) -> int:
        return self._index

    def rewind(self, mark: int) -> None:
        self._index = mark

    # --- Type names -------------------------------------------------------------------------------

    def push_scope(self) -> None:
        self._scopes.append({})

    def pop_scope(self) -> None:
        self._scopes.pop()

    def declare(self, name: str, *, is_type: bool) -> None:
        self._scopes[-1][name] = is_type

    def is_type_name(self, name: str) -> bool:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return False

    def at_type(self) -> bool:
        token = self.peek()
        if token.kind is not Kind.IDENTIFIER:
            return False
        return token.text in BASE_TYPES or token.text == "tuple" or self.is_type_name(token.text)
