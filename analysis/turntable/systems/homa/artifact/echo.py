"""echo_basic's table: round trips of some sizes on the idle network, a line
`name value unit description` for each number. Bandwidth counts 2^20 bytes as a megabyte, as the
artifact's own (1 MB in 1,720 us are its 554 MB/s), and is one direction's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from turntable_core.text_table import columns

SIZES = {100: "100", 1_000: "1K", 10_000: "10K", 100_000: "100K", 1_000_000: "1M"}
_US = (("us", 1e3), ("ms", 1e6), ("s", 1e9))


@dataclass(frozen=True)
class Echo:
    """Of one size, in ns."""

    size: int
    min_ns: float
    mean_ns: float
    median_ns: float
    p90_ns: float
    p99_ns: float
    p999_ns: float


def echo_table(echoes: Iterable[Echo]) -> list[str]:
    rows = [row for echo in echoes for row in _rows(echo)]
    return columns(rows, right=(1,))


def _rows(echo: Echo) -> Iterator[tuple[str, str, str]]:
    label = SIZES[echo.size]
    what = f"echo {label}B object"
    numbers = (
        ("", echo.median_ns, "median"),
        (".min", echo.min_ns, "minimum"),
        (".9", echo.p90_ns, "90th percentile"),
        (".99", echo.p99_ns, "99th percentile"),
        (".999", echo.p999_ns, "99.9th percentile"),
    )
    for suffix, ns, kind in numbers:
        yield f"echo{label}{suffix}", _time(ns), f"{what}, {kind}"
    bandwidth = echo.size / (echo.mean_ns / 1e9) / 2**20
    yield f"echoBw{label}", f"{bandwidth:.1f} MB/s", f"{what}, bandwidth of one direction"


def _time(ns: float) -> str:
    unit, of_ns = next((each for each in _US if ns < 1000 * each[1]), _US[-1])
    return f"{ns / of_ns:.1f} {unit}"
