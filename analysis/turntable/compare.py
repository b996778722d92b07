"""Two runs beside each other, as a text for a terminal.

turntable.compare("results/…/first", "results/…/second")
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest
from pathlib import Path

from turntable import grid
from turntable.comparison import NAMES, Change, Comparison, comparison, differences
from turntable.grid import Column
from turntable.results import Row, Run
from turntable.stats import Estimate
from turntable.table import WIDTH

_DIFFERENCES = (
    Column("", "what", "what", ""),
    Column("", "first", "first", ""),
    Column("", "second", "second", ""),
)
_CHANGES = (
    Column("", "cell", "cell", ""),
    Column("", "of", "column", ""),
    Column("", "first", "first", ">"),
    Column("", "second", "second", ">"),
    Column("", "change", "change", ">"),
)
_LONGEST = 32  # characters of a value that differs
_BEFORE = 8  # of them, before the first that differs


def compare(first: Path | str, second: Path | str) -> str:
    """Raises TurntableError for runs of different systems, and for what is no run."""
    return text_of(comparison(first, second))


def text_of(compared: Comparison) -> str:
    differing, rows = list(differences(*compared.runs)), list(changes(compared))
    return "\n".join(
        [
            *(
                f"{name:6}  {_described(run)}"
                for name, run in zip(NAMES, compared.runs, strict=True)
            ),
            "",
            "What differs" if differing else "Nothing differs: parameters, versions, hosts agree",
            *(grid.lines(_DIFFERENCES, [_cut(row) for row in differing]) if differing else ()),
            "",
            "Means of the valid rounds, and what the second changes with its 95 % interval",
            *(grid.lines(_CHANGES, rows) if rows else [f"({compared.nothing})"]),
            *_wrapped(compared.notes),
        ]
    )


def changes(compared: Comparison) -> Iterator[Row]:
    """Of every cell that both runs have; its name stands in its first row."""
    for (name, *other), found in compared.by_cell:
        names = [name, *(f"→ {label}" for label in other)]
        for shown, change in zip_longest(names if found else [], found):
            yield {"cell": shown or "", **_texts(change)}


def _texts(change: Change | None) -> Row:
    if change is None:
        return dict.fromkeys(("column", "first", "second", "change"), "")
    return {
        "column": change.column,
        "first": measured(change.first),
        "second": measured(change.second),
        "change": percent(change.share),
    }


def measured(result: Estimate | None) -> str | None:
    """7,101 ±402.5"""
    if result is None:
        return None
    interval = "" if result.half_width is None else f" ±{result.half_width:,.4g}"
    return f"{result.mean:,.5g}{interval}"


def percent(share: Estimate | None) -> str | None:
    """+1.2 ±0.4 %"""
    if share is None:
        return None
    interval = "" if share.half_width is None else f" ±{100 * share.half_width:.1f}"
    return f"{100 * share.mean:+.1f}{interval} %"


def _cut(row: Row) -> Row:
    """Values that are too long for a terminal, from shortly before what differs between them."""
    values = [row[name] for name in NAMES]
    pairs = zip(*(value or "" for value in values), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    begin = same - _BEFORE if same >= _LONGEST // 2 and _is_long(values) else 0
    return row | dict(zip(NAMES, (_part(value, begin) for value in values), strict=True))


def _is_long(values: Sequence[str | None]) -> bool:
    return any(value is not None and len(value) > _LONGEST for value in values)


def _part(value: str | None, begin: int) -> str | None:
    """From an index on; … stands for what is left out."""
    if value is None:
        return None
    text = f"…{value[begin:]}" if begin else value
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _described(run: Run) -> str:
    valid = sum(turn.valid for turn in run.judged)
    return f"{run.directory}, {valid} of {len(run.judged)} rounds (of all cells) valid"


def _wrapped(notes: Sequence[str]) -> list[str]:
    lines = [line for note in notes for line in textwrap.wrap(note, WIDTH, subsequent_indent="  ")]
    return ["", *lines] if lines else []
