"""The part of the C preprocessor that P4 uses, on tokens: every token keeps its true position.

#include, #import, #define (with and without parameters), #undef, #if/#ifdef/#ifndef/#elif/#else/
#endif, #error, #warning, #pragma once, and `##` in macros. `#x` is refused. Other lines that begin
with # are no part of the program, as for the Tofino compiler, and give a warning. A token that
comes out of a macro has the position of the macro's use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from p4soft.errors import P4_14, P4Error, P4Warning, Position, unsupported
from p4soft.frontend.conditions import evaluate_condition
from p4soft.frontend.lexer import Kind, Token, tokenize

MAX_INCLUDE_DEPTH = 64
# As the headers of P4_14 for Tofino are named.
_P4_14_DIRECTORY = "tofino/"
# Their programs begin with one of these. No directory makes them programs of a Tofino 1.
_OTHER_ARCHITECTURES = {
    "dpdk/pna.p4", "dpdk/psa.p4", "ebpf_model.p4", "pna.p4", "psa.p4", "t2na.p4", "t3na.p4",
    "ubpf_model.p4", "v1model.p4", "xdp_model.p4",
}  # fmt: skip
# Those that may begin with `e` belong to an #if before.
_CONDITIONALS = frozenset(("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"))
# What the compiler's preprocessor takes and passes over, without a word.
_SILENT = frozenset(("pragma", "line", "ident"))


@dataclass(frozen=True, slots=True)
class Macro:
    parameters: tuple[str, ...] | None  # None: used without parentheses
    body: tuple[Token, ...]


@dataclass(slots=True)
class _Conditional:
    position: Position
    active: bool  # this branch is read
    taken: bool  # some branch was
    seen_else: bool = False


_PASTE = "##"


def _join_paste_operators(body: list[Token]) -> list[Token]:
    """A macro's body with `##` as one token each."""
    result: list[Token] = []
    for token in body:
        if token.text != "#":
            result.append(token)
        elif result and result[-1].text == "#" and token.glued:
            result[-1] = replace(result[-1], text=_PASTE)
        else:
            result.append(token)
    for number, token in enumerate(result):
        if token.text == "#":
            raise P4Error(token.position, "# in macros is not supported; ## is")
        if token.text == _PASTE and number in (0, len(result) - 1):
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


class Preprocessor:
    """Reads one program: the top file and everything it includes."""

    def __init__(
        self,
        include_directories: Iterable[Path],
        defines: dict[str, str],
        warn: Callable[[P4Warning], None] | None = None,
        may_include: frozenset[str] | None = None,
    ) -> None:
        """may_include: the only names that #include may say; None: any."""
        self._directories = list(include_directories)
        self._warn = warn or (lambda _: None)
        self._may_include = may_include
        self._read: set[Path] = set()
        self._once: set[Path] = set()  # those of `_read` with #pragma once
        self._macros: dict[str, Macro] = {}
        self._output: list[Token] = []
        for name, value in defines.items():
            body = tuple(tokenize(value, "<command line>")[:-1])
            self._macros[name] = Macro(None, body)

    def read(self, path: Path) -> list[Token]:
        """The program's tokens, the last of kind END."""
        end = self._file(path, depth=0)
        for token in self._output:
            if token.kind is Kind.BAD_NUMBER:
                raise P4Error(
                    token.position,
                    f"{token} is not a number; expected for example 10, 0xFF, 0b01 or 8w255",
                )
        return [*self._output, end]

    def _file(self, path: Path, depth: int) -> Token:
        tokens = tokenize(_text(path), str(path))
        self._read.add(path.resolve())
        conditionals: list[_Conditional] = []
        index = 0
        while tokens[index].kind is not Kind.END:
            token = tokens[index]
            end = index + 1
            if token.first_on_line and token.text == "#":
                while not tokens[end].first_on_line:
                    end += 1
                self._directive(tokens[index:end], conditionals, path, depth)
            elif all(c.active for c in conditionals):
                end = self._expand_into(self._output, tokens, index)
            index = end
        if conditionals:
            raise P4Error(conditionals[-1].position, "this #if has no #endif")
        return tokens[-1]

    # --- Directives -------------------------------------------------------------------------------

    def _directive(
        self, line: list[Token], conditionals: list[_Conditional], path: Path, depth: int
    ) -> None:
        if len(line) == 1:
            return
        name, rest = line[1], line[2:]
        if name.text in _CONDITIONALS:
            self._conditional(name, rest, conditionals)
        elif not all(c.active for c in conditionals):
            return
        elif name.text in ("include", "import"):
            self._include(name, rest, path, depth)
        elif name.text == "define":
            self._define(name, rest)
        elif name.text == "undef":
            self._macros.pop(self._macro_name(name, rest), None)
        elif name.text == "error":
            raise P4Error(name.position, "#error " + _words(rest))
        elif name.text == "include_next":
            raise unsupported(
                name.position, "#include_next", "#include of a path that is the file's"
            )
        elif name.text == "warning":
            self._warn(P4Warning(name.position, "#warning " + _words(rest)))
        elif name.text == "pragma" and [token.text for token in rest] == ["once"]:
            self._once.add(path.resolve())
        elif name.kind is Kind.IDENTIFIER and name.text not in _SILENT:
            self._warn(
                P4Warning(
                    name.position,
                    f"#{name.text} is no directive of the preprocessor; this line is left out",
                )
            )

    def _conditional(self, name: Token, rest: list[Token], stack: list[_Conditional]) -> None:
        outer_active = all(c.active for c in (stack[:-1] if name.text[0] == "e" else stack))
        if name.text in ("if", "ifdef", "ifndef"):
            active = outer_active and self._condition(name, rest)
            stack.append(_Conditional(name.position, active, active))
            return
        if not stack:
            raise P4Error(name.position, f"#{name.text} without #if")
        top = stack[-1]
        if name.text == "endif":
            stack.pop()
        elif top.seen_else:
            raise P4Error(name.position, f"#{name.text} after #else")
        else:
            top.seen_else = name.text == "else"
            top.active = (
                outer_active and not top.taken and (top.seen_else or self._condition(name, rest))
            )
            top.taken = top.taken or top.active

    def _condition(self, name: Token, rest: list[Token]) -> bool:
        if name.text.endswith("def"):
            is_defined = self._macro_name(name, rest) in self._macros
            return is_defined != name.text.endswith("ndef")
        tokens: list[Token] = []
        index = 0
        while index < len(rest):
            if rest[index].text == "defined":  # its operand must not be expanded
                start = index + 1
                parenthesized = start < len(rest) and rest[start].text == "("
                operand = self._macro_name(name, rest[start + parenthesized :])
                value = "1" if operand in self._macros else "0"
                tokens.append(replace(rest[index], kind=Kind.INTEGER, text=value))
                index = start + 1 + 2 * parenthesized
            else:
                index = self._expand_into(tokens, rest, index)
        return evaluate_condition(tokens, name.position) != 0

    def _macro_name(self, directive: Token, rest: list[Token]) -> str:
        if not rest or rest[0].kind is not Kind.IDENTIFIER:
            raise P4Error(directive.position, f"#{directive.text} needs the name of a macro")
        return rest[0].text

    def _include(self, name: Token, rest: list[Token], path: Path, depth: int) -> None:
        if depth >= MAX_INCLUDE_DEPTH:
            raise P4Error(
                name.position, f"#include is nested deeper than {MAX_INCLUDE_DEPTH} files"
            )
        if rest and rest[0].kind is Kind.IDENTIFIER:
            rest = self._expand_all(rest, frozenset())
        if rest and rest[0].kind is Kind.STRING:
            wanted, places = rest[0].text[1:-1], [path.parent, *self._directories]
        elif len(rest) >= 3 and rest[0].text == "<" and rest[-1].text == ">":
            wanted, places = "".join(t.text for t in rest[1:-1]), self._directories
        else:
            raise P4Error(name.position, 'expected #include "file" or #include <file>')
        if self._may_include is not None and wanted not in self._may_include:
            # Before any file is looked for: whether there is one is not told either.
            allowed = ", ".join(sorted(self._may_include))
            raise P4Error(rest[0].position, f"'{wanted}' may not be included; these may: {allowed}")
        for place in places:
            found = place / wanted
            if found.is_file():
                once = self._read if name.text == "import" else self._once
                if found.resolve() not in once:
                    self._file(found, depth + 1)
                return
        searched = ", ".join(str(place) for place in places)
        remedy = "add its directory with -I"
        if wanted in _OTHER_ARCHITECTURES:
            remedy = "it is another architecture's: expected a program for a Tofino 1, of <tna.p4>"
        elif wanted.startswith(_P4_14_DIRECTORY):
            remedy = f"it is one of {P4_14}"
        raise P4Error(rest[0].position, f"cannot find '{wanted}' in {searched}; {remedy}")

    def _define(self, name: Token, rest: list[Token]) -> None:
        macro = self._macro_name(name, rest)
        body = rest[1:]
        parameters: tuple[str, ...] | None = None
        if body and body[0].text == "(" and body[0].glued:
            closing = next((i for i, t in enumerate(body) if t.text == ")"), None)
            if closing is None:
                raise P4Error(rest[0].position, f"the parameters of macro {macro} do not end")
            parameters = tuple(t.text for t in body[1:closing] if t.text != ",")
            body = body[closing + 1 :]
        self._macros[macro] = Macro(parameters, tuple(_join_paste_operators(body)))

    # --- Macro expansion --------------------------------------------------------------------------

    def _expand_into(
        self,
        output: list[Token],
        tokens: list[Token],
        index: int,
        hidden: frozenset[str] = frozenset(),
    ) -> int:
        """Appends what tokens[index] stands for; returns the index after what was used."""
        token = tokens[index]
        macro = self._macros.get(token.text) if token.kind is Kind.IDENTIFIER else None
        if macro is None or token.text in hidden:
            output.append(token)
            return index + 1
        given: dict[str, list[Token]] = {}
        index += 1
        if macro.parameters is not None:
            if index >= len(tokens) or tokens[index].text != "(":
                output.append(token)
                return index
            values, index = self._arguments(tokens, index)
            if not values and len(macro.parameters) == 1:
                values = [[]]
            if len(values) != len(macro.parameters):
                raise P4Error(
                    token.position,
                    f"macro {token.text} takes {len(macro.parameters)} arguments, {len(values)} "
                    "given",
                )
            given = dict(zip(macro.parameters, values, strict=True))
        body = self._substitute(macro, given, hidden, token.position)
        placed = [
            replace(part, position=token.position, first_on_line=i == 0 and token.first_on_line)
            for i, part in enumerate(body)
        ]
        output.extend(self._expand_all(placed, hidden | {token.text}))
        return index

    def _substitute(
        self,
        macro: Macro,
        given: dict[str, list[Token]],
        hidden: frozenset[str],
        use: Position,
    ) -> list[Token]:
        """The macro's body with its arguments: expanded, but for the operands of `##`."""
        body: list[Token] = []
        expanded = {name: self._expand_all(value, hidden) for name, value in given.items()}
        pasting, left = False, 0  # where in `body` the left operand begins
        for number, part in enumerate(macro.body):
            if part.text == _PASTE:
                pasting = True
                continue
            pasted_next = number + 1 < len(macro.body) and macro.body[number + 1].text == _PASTE
            tokens = (given if pasting or pasted_next else expanded).get(part.text, [part])
            if pasting and tokens and len(body) > left:
                body[-1:] = [_paste(body[-1], tokens[0], use), *tokens[1:]]
            else:
                left = len(body)
                body.extend(tokens)
            pasting = False
        return body

    def _expand_all(self, tokens: list[Token], hidden: frozenset[str]) -> list[Token]:
        result: list[Token] = []
        index = 0
        while index < len(tokens):
            index = self._expand_into(result, tokens, index, hidden)
        return result

    def _arguments(self, tokens: list[Token], index: int) -> tuple[list[list[Token]], int]:
        """The arguments of a macro; `index` is at its '('."""
        opening = tokens[index]
        values: list[list[Token]] = [[]]
        depth = 1
        while True:
            index += 1
            if index >= len(tokens) or tokens[index].kind is Kind.END:
                raise P4Error(opening.position, "the arguments of this macro do not end")
            text = tokens[index].text
            depth += (text in "([{") - (text in ")]}")
            if depth == 0:
                break
            if text == "," and depth == 1:
                values.append([])
            else:
                values[-1].append(tokens[index])
        return ([] if values == [[]] else values), index + 1


def _words(tokens: list[Token]) -> str:
    """As they were written, but for white space."""
    return "".join(t.text if t.glued else f" {t.text}" for t in tokens).lstrip()


def _text(path: Path) -> str:
    content = path.read_bytes()
    try:
        # As in text mode: every end of a line is one character.
        return content.decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        before = content[: error.start].split(b"\n")
        column = len(before[-1].decode()) + 1
        message = f"byte 0x{content[error.start]:02x} is no UTF-8; save the file as UTF-8 text"
        raise P4Error(Position(str(path), len(before), column), message) from None
