"""A JSON array whose elements know where they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from turntable_core.errors import TurntableError
from turntable_core.yaml_document import shortened

_SPACE = " \t\r\n"


@dataclass(frozen=True)
class Element:
    source: Source
    value: Any
    begin: int
    end: int

    def where(self, name: str = "") -> str:
        """`file:line` of the key `name`, or of the element if it has none."""
        at = self.source.text.find(f'"{name}"', self.begin, self.end) if name else -1
        return self.source.where(self.begin if at < 0 else at)


@dataclass(frozen=True)
class Source:
    file: Path
    text: str

    def where(self, offset: int) -> str:
        return f"{shortened(self.file)}:{self.text.count(chr(10), 0, offset) + 1}"

    def elements(self) -> Iterator[Element]:
        """Raises TurntableError, with the line, for what is no JSON array."""
        if (at := self._skip(0)) == len(self.text):
            self._refuse(at, "the file is empty")
        if self.text[at] != "[":
            self._refuse(at, f"begins with {self.text[at]!r}")
        at = self._skip(at + 1)
        while at < len(self.text) and self.text[at] != "]":
            value, end = self._decode(at)
            yield Element(self, value, at, end)
            at = self._skip(end)
            if at < len(self.text) and self.text[at] == ",":
                at = self._skip(at + 1)
            elif at < len(self.text) and self.text[at] != "]":
                self._refuse(at, "no comma between two objects")
        if at >= len(self.text):
            self._refuse(at, "the file ends before its array does: it was cut off")
        if (rest := self._skip(at + 1)) < len(self.text):
            self._refuse(rest, "something follows the array")

    def _decode(self, at: int) -> tuple[Any, int]:
        try:
            return json.JSONDecoder().raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            self._refuse(error.pos, f"not valid JSON: {error.msg}")
        except ValueError:  # Python reads no longer ones
            self._refuse(at, "a number of thousands of digits")
        except RecursionError:
            self._refuse(at, "not valid JSON: nested too deeply")

    def _skip(self, at: int) -> int:
        while at < len(self.text) and self.text[at] in _SPACE:
            at += 1
        return at

    def _refuse(self, at: int, reason: str) -> NoReturn:
        raise TurntableError(
            f"{self.where(at)}: {reason}; expected a JSON array, an object per iteration or second"
        )


def read_source(file: Path) -> Source:
    try:
        return Source(file, file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise TurntableError(f"{shortened(file)}:{line}: not UTF-8: {error.reason}") from None
    except OSError as error:
        raise TurntableError(f"{shortened(file)}: cannot be read: {error.strerror}") from None
