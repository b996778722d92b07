"""Coordinated omission: the same service measured by an open loop from the intended instants, and
by a closed loop from the sending.

    python -m turntable.systems.swan.omission FILE OUT.svg

FILE: JSON {"service": text, "percentiles": [50, 90, …], "series": [{"name": text, "latency_us":
[…]} …]}, or CSV with the columns percentile, series, latency_us.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from turntable_core.errors import TurntableError

_HEIGHT_IN = 3.8
_EXPECTED = (
    "expected JSON with percentiles and series of name and latency_us, or CSV with the columns "
    "percentile, series, latency_us"
)


@dataclass(frozen=True)
class Measured:
    service: str  # in words
    series: Mapping[str, Mapping[float, float]]  # name -> percentile -> latency in µs


def read(file: Path) -> Measured:
    """Raises TurntableError for what is no such file."""
    try:
        text = file.read_text(encoding="utf-8")
        found = _of_csv(text) if file.suffix == ".csv" else _of_json(text)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TurntableError(f"{file}: cannot be read ({error!r}); {_EXPECTED}") from None
    if not found.series:
        raise TurntableError(f"{file}: has no series; {_EXPECTED}")
    return found


def _of_json(text: str) -> Measured:
    document = json.loads(text)
    series = {
        one["name"]: dict(zip(document["percentiles"], one["latency_us"], strict=True))
        for one in document["series"]
    }
    return Measured(document.get("service", ""), series)


def _of_csv(text: str) -> Measured:
    series: dict[str, dict[float, float]] = {}
    for row in csv.DictReader(text.splitlines()):
        series.setdefault(row["series"], {})[float(row["percentile"])] = float(row["latency_us"])
    return Measured("", series)


def figure(measured: Measured, stamp: str) -> object:
    """A Drawing: latency against the percentile, whose axis has a decade per nine."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    from turntable.plot import drawing  # noqa: PLC0415

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        percentiles = sorted({p for one in measured.series.values() for p in one if p < 100})
        for (name, one), colour, marker in zip(
            measured.series.items(), drawing.SERIES, drawing.MARKERS, strict=False
        ):
            known = [p for p in percentiles if p in one]
            axes.plot(
                [_nines(p) for p in known], [one[p] for p in known],
                color=colour, marker=marker, ms=4.5, lw=1.5, label=name,
            )  # fmt: skip
        axes.set_yscale("log")
        axes.set_xscale("log")
        axes.set_xticks([_nines(p) for p in percentiles], [f"{p:g}" for p in percentiles])
        axes.minorticks_off()
        axes.set_xlabel(f"percentile ({measured.service})" if measured.service else "percentile")
        axes.set_ylabel("latency (µs)")
        drawing.legend(axes, 2)

    names = ", ".join(measured.series)
    return drawing.draw("omission", f"Latency by percentile: {names}", stamp, _HEIGHT_IN, paint)


def _nines(percentile: float) -> float:
    return 100 / (100 - percentile)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    source, target = map(Path, arguments)
    try:
        drawn = figure(read(source), source.name)
    except TurntableError as error:
        print(f"omission: {error}", file=sys.stderr)
        return 2
    if target.suffix == ".svg":
        target.write_text(drawn.svg(), encoding="utf-8")
    else:
        drawn.save(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
