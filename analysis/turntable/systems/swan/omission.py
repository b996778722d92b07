"""Coordinated omission: the same requests to one service, measured from their intended instants by
an open loop, and from their sends as closed-loop generators do.

    python -m turntable.systems.swan.omission FILE.csv OUT.svg

FILE.csv: what python -m turntable_bench.coordinated_omission writes (docs/mcload.md).
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from turntable_core.errors import TurntableError

if TYPE_CHECKING:
    from turntable.plot.drawing import Drawing

_HEIGHT_IN = 3.8
# Column -> label and dashes of its line.
_PERCENTILES = {"p50_us": ("p50", ":"), "p99_us": ("p99", "-"), "p999_us": ("p99.9", "--")}
_EXPECTED = f"expected a CSV with the columns rate_per_s, way, {', '.join(_PERCENTILES)}"

Row = Mapping[str, float]  # by column, one rate
Ways = Mapping[str, Sequence[Row]]  # how latency was measured -> its rows by rate


def read(file: Path) -> Ways:
    """Raises TurntableError for what is no such file."""
    ways: dict[str, list[Row]] = {}
    columns = ("rate_per_s", *_PERCENTILES)
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                values = {column: float(row[column]) for column in columns}
                ways.setdefault(row["way"], []).append(values)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TurntableError(f"{file}: cannot be read ({error!r}); {_EXPECTED}") from None
    if not ways:
        raise TurntableError(f"{file}: has no rows; {_EXPECTED}")
    return {way: sorted(rows, key=lambda row: row["rate_per_s"]) for way, rows in ways.items()}


def figure(ways: Ways, stamp: str) -> Drawing:
    """Latency against the rate: a colour per way, a dash per percentile."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    from turntable.plot import drawing  # noqa: PLC0415

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for (way, rows), colour, marker in zip(
            ways.items(), drawing.SERIES, drawing.MARKERS, strict=False
        ):
            rates = [row["rate_per_s"] for row in rows]
            for column, (name, dashes) in _PERCENTILES.items():
                latencies = [row[column] for row in rows]
                axes.plot(
                    rates, latencies, ls=dashes, color=colour, marker=marker, ms=4, lw=1.5,
                    label=f"{name}, {way}",
                )  # fmt: skip
        axes.set_yscale("log")
        axes.set_xlabel("rate (requests/s)")
        axes.set_ylabel("latency (µs)")
        drawing.legend_beside(axes)

    description = f"Latency of one service by rate, measured in two ways: {', '.join(ways)}"
    return drawing.draw("omission", description, stamp, _HEIGHT_IN, paint)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    source, target = map(Path, arguments)
    try:
        drawn = figure(read(source), source.name)
        if target.suffix == ".svg":
            target.write_text(drawn.svg(), encoding="utf-8")
        else:
            drawn.save(target)
    except TurntableError as error:
        print(f"omission: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"omission: {target}: cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
