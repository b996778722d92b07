"""slowdownImpl.txt: a row for each size of each experiment,
`name load workload size samples fraction [mean] median p99`. Of two versions of the artifact's
script only the newer one writes the mean. `fraction` is the share of messages that are as small.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from turntable.systems.homa.artifact.lines import Line, lines_of
from turntable_core.errors import TurntableError
from turntable_core.text_table import columns

FILE = "slowdownImpl.txt"
_WITHOUT_MEAN = ("name", "load", "workload", "size", "samples", "fraction", "median", "p99")
_HEAD = (*_WITHOUT_MEAN[:6], "mean", *_WITHOUT_MEAN[6:])


@dataclass(frozen=True)
class SlowdownRow:
    name: str
    load: str  # percent of the link, payload alone
    workload: str
    size: int
    samples: int
    fraction: float
    mean: float | None
    median: float
    p99: float


def read_slowdown_rows(path: Path) -> list[SlowdownRow]:
    """Raises TurntableError that names file and line."""
    rows = [_row(line) for line in lines_of(path) if line.words[0] != _HEAD[0]]
    if not rows:
        raise TurntableError(f"{path}: no row; expected the columns {' '.join(_HEAD)}")
    return rows


def _row(line: Line) -> SlowdownRow:
    heads = {len(head): head for head in (_HEAD, _WITHOUT_MEAN)}
    head = heads.get(len(line.words))
    if head is None:
        raise line.error(
            f"{len(line.words)} columns; expected {len(_HEAD)}, or {len(_WITHOUT_MEAN)} without "
            f"the mean: {' '.join(_HEAD)}"
        )
    at = {name: index for index, name in enumerate(head)}
    fraction = line.number_at(at["fraction"], "fraction")
    if fraction > 1.001:
        raise line.error(f"fraction: {fraction:g} is not accepted; expected 0 to 1")
    return SlowdownRow(
        *line.words[:3],
        size=line.count(at["size"], "size", least=1),
        samples=line.count(at["samples"], "samples"),
        fraction=fraction,
        mean=line.number_at(at["mean"], "mean") if "mean" in at else None,
        median=line.number_at(at["median"], "median"),
        p99=line.number_at(at["p99"], "p99"),
    )


def slowdown_rows_text(rows: Iterable[SlowdownRow]) -> str:
    """With means, which all of the rows have."""
    texts = [_HEAD, *(_texts(row) for row in rows)]
    return "\n".join(columns(texts, right=range(3, len(_HEAD)))) + "\n"


def _texts(row: SlowdownRow) -> tuple[str, ...]:
    slowdowns = (f"{value:.3f}" for value in (row.mean, row.median, row.p99))
    where = (row.name, row.load, row.workload, str(row.size), str(row.samples))
    return (*where, f"{row.fraction:.6f}", *slowdowns)
