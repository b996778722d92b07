"""Programs that must be refused, each with a message that says what and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from p4soft.cli import translate
from p4soft.errors import P4Error

MARK = "/*^*/"  # directly before the place an error must name


def position_of_mark(text: str) -> tuple[int, int]:
    before = text[: text.index(MARK) + len(MARK)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def check_refused(text: str, message: str, directory: Path) -> None:
    """The translator refuses `text` with `message` in its error, at the mark if there is one."""
    path = directory / "wrong.p4"
    path.write_text(text)
    with pytest.raises(P4Error) as error:
        translate(path, [], {})
    assert message in error.value.message
    if MARK in text:
        line, column = position_of_mark(text)
        assert str(error.value).startswith(f"{path}:{line}:{column}: error: ")
