"""Lines of a text file as words, and messages that name the line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from turntable_core.errors import TurntableError


@dataclass(frozen=True)
class Line:
    path: Path
    number: int
    words: tuple[str, ...]

    def error(self, fault: str) -> TurntableError:
        return TurntableError(f"{self.path}:{self.number}: {fault}")

    def count(self, index: int, what: str, least: int = 0) -> int:
        word = self.words[index]
        if not word.isascii() or not word.isdigit() or int(word) < least:
            raise self.error(
                f"{what}: {word!r} is not accepted; expected a whole number of at least {least}"
            )
        return int(word)

    def number_at(self, index: int, what: str) -> float:
        """Finite, and not below 0."""
        word = self.words[index]
        try:
            value = float(word)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise self.error(f"{what}: {word!r} is not accepted; expected a number of at least 0")
        return value


def lines_of(path: Path) -> Iterator[Line]:
    """Those that are not blank. Raises TurntableError if the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TurntableError(f"{path}: cannot be read: {error}") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if words := tuple(line.split()):
            yield Line(path, number, words)
