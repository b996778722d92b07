"""The part of the C preprocessor that P4 uses, on tokens: every token keeps its true position.

#include, #import, #define (with and without parameters), #undef, #if/#ifdef/#ifndef/#elif/#else/
#endif, #error, #warning, #pragma once, and `##` in macros. `#x` is refused. Other lines that begin
with # are no part of the program, as for the Tofino compiler, and give a warning. A token that
comes out of a macro has the position of the macro's use.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from p4soft.errors import P4_14, P4Error, P4Warning, Position, unsupported
from p4soft.frontend.conditions import evaluate_condition
from p4soft.frontend.lexer import Kind, Token, tokenize
from p4soft.frontend.macros import Macro, Macros, define, macro_name

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


@dataclass(slots=True)
class _Conditional:
    position: Position
    active: bool  # this branch is read
    taken: bool  # some branch was
    seen_else: bool = False


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
        self._macros = Macros()
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
                end = self._macros.expand(self._output, tokens, index)
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
            self._macros[macro_name(name, rest)] = define(rest)
        elif name.text == "undef":
            self._macros.remove(macro_name(name, rest))
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
            is_defined = macro_name(name, rest) in self._macros
            return is_defined != name.text.endswith("ndef")
        tokens = self._macros.expand_all(rest, in_condition=True)
        return evaluate_condition(tokens, name.position) != 0

    def _include(self, name: Token, rest: list[Token], path: Path, depth: int) -> None:
        if depth >= MAX_INCLUDE_DEPTH:
            raise P4Error(
                name.position, f"#include is nested deeper than {MAX_INCLUDE_DEPTH} files"
            )
        if rest and rest[0].kind is Kind.IDENTIFIER:
            rest = self._macros.expand_all(rest)
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


def _words(tokens: list[Token]) -> str:
    """As they were written, but for white space."""
    return "".join(t.text if t.glued else f" {t.text}" for t in tokens).lstrip()


def _text(path: Path) -> str:
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        # As in text mode: every end of a line is one character.
        return content.decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        before = content[: error.start].split(b"\n")
        column = len(before[-1].decode()) + 1
        message = f"byte 0x{content[error.start]:02x} is no UTF-8; save the file as UTF-8 text"
        raise P4Error(Position(str(path), len(before), column), message) from None
