"""NAME_W_LOAD_experiment.txt: round trips under load, a row of nine columns for each size. Times
are in microseconds.

The artifact's files have lines of a log among the rows; a row is what begins with a whole number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from turntable.systems.homa.artifact.lines import Line, lines_of
from turntable_core.errors import TurntableError
from turntable_core.text_table import columns

_HEAD = ("Size", "Samples", "Min", "Average", "Median", "90%", "99%", "99.9%", "Max")


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


def read_experiment(path: Path) -> list[RoundTrips]:
    """By size. Raises TurntableError that names file and line."""
    rows = [_row(line) for line in lines_of(path) if line.words[0].isdigit()]
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


def experiment_text(rows: Iterable[RoundTrips]) -> str:
    texts = [_HEAD, *(_texts(row) for row in rows)]
    return "\n".join(columns(texts, right=range(len(_HEAD)))) + "\n"


def _texts(row: RoundTrips) -> tuple[str, ...]:
    times = (row.min_us, row.average_us, row.median_us, row.p90_us, row.p99_us, row.p999_us)
    return (str(row.size), str(row.samples), *(f"{us:.3f}" for us in (*times, row.max_us)))
