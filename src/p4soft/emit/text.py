"""Lines of C++ with indentation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_RAW_BEGIN, _RAW_END = 'R"p4soft(', ')p4soft"'


def raw_string(text: str) -> str:
    """A string of C++ as it stands, of several lines. Names and documentation of a program may hold
    what would end it; there it goes on as another string.
    """
    parted = text.replace(_RAW_END, f"){_RAW_END} {_RAW_BEGIN}{_RAW_END[1:]}")
    return f"{_RAW_BEGIN}{parted}{_RAW_END}"


class Lines:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def add(self, *lines: str) -> None:
        indentation = "  " * self._depth
        self._lines.extend(f"{indentation}{line}" if line else "" for line in lines)

    def trace(self, code: str) -> None:
        """C++ that only a library for tracing has (src/dataplane/trace.h)."""
        self.add(f"TRACED({code})")

    @contextmanager
    def indented(self) -> Iterator[None]:
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def braces(self, opening: str, closing: str = "}") -> Iterator[None]:
        """`opening {` ... `}`."""
        self.add(f"{opening} {{".lstrip())
        with self.indented():
            yield
        self.add(closing)

    def append(self, other: Lines) -> None:
        self.add(*other._lines)

    def is_empty(self) -> bool:
        return not self._lines

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"
