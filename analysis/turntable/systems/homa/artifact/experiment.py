"""NAME_W_LOAD_experiment.txt: round trips under load, a row of nine columns for each size. Times
are in microseconds.

The artifact's files have lines of a log among the rows; a row is what begins with a whole number.
Ours have such a line after a row whose messages have several sizes:
`Sizes LEAST to LARGEST, slowdown mean A median B p99 C`, with slowdowns if there was a baseline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from turntable.systems.homa.artifact.lines import Line, lines_of
from turntable_core.errors import TurntableError
from turntable_core.text_table import columns

_HEAD = ("Size", "Samples", "Min", "Average", "Median", "90%", "99%", "99.9%", "Max")
_NUMBER = r"(\d+\.?\d*)"
_SIZES = re.compile(
    rf"Sizes (\d+) to (\d+)(?:, slowdown mean {_NUMBER} median {_NUMBER} p99 {_NUMBER})?"
)


@dataclass(frozen=True)
class Slowdown:
    """Each call's round trip over the baseline of its own size, of all calls of a row."""

    mean: float
    median: float
    p99: float


@dataclass(frozen=True)
class RoundTrips:
    """Of one size; of several, `size` is the largest one."""

    size: int  # bytes
    samples: int
    min_us: float
    average_us: float
    median_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    max_us: float
    least_size: int | None = None  # None: all messages have the same one
    slowdown: Slowdown | None = None  # of several sizes, where there was a baseline

    @property
    def has_slowdown(self) -> bool:
        """Or it follows from a baseline: round trips of several sizes are of no size's."""
        return self.least_size is None or self.slowdown is not None


def read_experiment(path: Path) -> list[RoundTrips]:
    """By size. Raises TurntableError that names file and line."""
    rows: list[RoundTrips] = []
    for line in lines_of(path):
        if line.words[0].isdigit():
            rows.append(_row(line))
        elif line.words[0] == "Sizes":
            rows[-1:] = [_with_sizes(rows[-1] if rows else None, line)]
    if not rows:
        raise TurntableError(f"{path}: no row; expected the columns {' '.join(_HEAD)}")
    return sorted(rows, key=lambda row: row.size)


def _row(line: Line) -> RoundTrips:
    if len(line.words) != len(_HEAD):
        raise line.error(f"{len(line.words)} columns; expected {len(_HEAD)}: {' '.join(_HEAD)}")
    times = [line.number_at(index, _HEAD[index]) for index in range(2, len(_HEAD))]
    row = RoundTrips(line.count(0, "Size", least=1), line.count(1, "Samples"), *times)
    ascending = (row.min_us, row.median_us, row.p90_us, row.p99_us, row.p999_us, row.max_us)
    if list(ascending) != sorted(ascending):
        raise line.error("a percentile is below a lower one; expected Min to Max ascending")
    return row


def _with_sizes(row: RoundTrips | None, line: Line) -> RoundTrips:
    """row: the one before the line."""
    text = " ".join(line.words)
    found = _SIZES.fullmatch(text)
    if row is None or found is None or not int(found[1]) < int(found[2]) == row.size:
        raise line.error(
            f"{text!r} is not accepted; expected after a row of size LARGEST: Sizes LEAST to "
            "LARGEST, slowdown mean A median B p99 C"
        )
    slowdown = Slowdown(*map(float, found.groups()[2:])) if found[3] else None
    return replace(row, least_size=int(found[1]), slowdown=slowdown)


def experiment_text(rows: Iterable[RoundTrips]) -> str:
    rows = list(rows)
    head, *texts = columns([_HEAD, *(_texts(row) for row in rows)], right=range(len(_HEAD)))
    return "".join(f"{line}\n" for line in (head, *_lines(rows, texts)))


def _lines(rows: Iterable[RoundTrips], texts: Iterable[str]) -> Iterator[str]:
    for row, text in zip(rows, texts, strict=True):
        yield text
        if row.least_size is None:
            continue
        several = f"Sizes {row.least_size} to {row.size}"
        if (of := row.slowdown) is not None:
            several += f", slowdown mean {of.mean:.3f} median {of.median:.3f} p99 {of.p99:.3f}"
        yield several


def _texts(row: RoundTrips) -> tuple[str, ...]:
    times = (row.min_us, row.average_us, row.median_us, row.p90_us, row.p99_us, row.p999_us)
    return (str(row.size), str(row.samples), *(f"{us:.3f}" for us in (*times, row.max_us)))
