"""Tables of text in columns, with headings above neighbouring ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MISSING = "-"


@dataclass(frozen=True)
class Column:
    group: str  # neighbours of one group share a heading
    head: str
    key: str
    form: str  # of a number; ">" for a text at the right, empty for one at the left
    measured: bool = False  # a gap where the verdict is not valid
    optional: bool = False  # left out where no round has a value

    def text(self, row: Mapping[str, Any]) -> str:
        value = None if self.measured and row["verdict"] != "valid" else row[self.key]
        if value is None:
            return MISSING
        if self.key == "verdict":  # its reasons have lines of their own
            return str(value).partition(":")[0]
        return format(value, self.form) if self.form else str(value)


@dataclass(frozen=True)
class Table:
    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]  # by key of the columns


def lines(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    texts = [
        [column.head for column in columns],
        *([column.text(row) for column in columns] for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [_groups(columns, widths), *(_line(columns, line, widths) for line in texts)]


def _line(columns: Sequence[Column], texts: Sequence[str], widths: Sequence[int]) -> str:
    parts = [
        text.rjust(width) if column.form else text.ljust(width)
        for column, text, width in zip(columns, texts, widths, strict=True)
    ]
    return " ".join(parts).rstrip()


def _groups(columns: Sequence[Column], widths: Sequence[int]) -> str:
    """The headings above neighbouring columns, centred between dashes."""
    parts, index = [], 0
    while index < len(columns):
        group, end = columns[index].group, index + 1
        while group and end < len(columns) and columns[end].group == group:
            end += 1
        width = sum(widths[index:end]) + end - index - 1
        parts.append(f" {group} ".center(width, "-") if end - index > 1 else group.rjust(width))
        index = end
    return " ".join(parts).rstrip()
