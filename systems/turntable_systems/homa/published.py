"""Simulations of the measured system beside its published slowdowns (docs/homa.md §7).

    python -m turntable_systems.homa.published [--only W3] [--load 0.8] [--seconds 0.5]

16 clients and 16 servers at 10 Gb/s with the artifact's own settings. A finished simulation is kept
and not made again; an interrupted command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram

from turntable_core.errors import TurntableError
from turntable_core.reference import Reference
from turntable_systems.homa import methods, sizes

_REPOSITORY = Path(__file__).resolve().parents[3]
_REFERENCE = _REPOSITORY / "experiments" / "reference"
_METHODS = (*(f"homa-p{levels}" for levels in reversed(methods.PAPER_LEVELS)), methods.BASIC)
_POINTS = (5, 20, 50, 80, 95)  # per cent of the messages, smallest first

# The artifact's payload of each client in Gb/s, whose labels are shares of the link with headers.
_PAYLOAD_GBPS = {0.35: 3.5, 0.5: 4.8, 0.8: 7.6}
_CELLS = (
    ("W3", 0.8),
    ("W4", 0.8),
    ("W5", 0.8),
    ("W2", 0.35),
    ("W3", 0.5),
    ("W4", 0.5),
    ("W5", 0.5),
)
# Some 10,000 messages of each per cent of W3 and W2; 500 and 75 of W4 and W5, which are longer.
_SECONDS = {"W2": 0.1, "W3": 0.5, "W4": 2.0, "W5": 6.0}
# Fitted to the idle network alone; the measured transport has no IP.
_MEASURED_SYSTEM = {"host_delay_us": 1.9, "frame_overhead_bytes": 42}


@dataclass(frozen=True)
class Cell:
    sizes: str
    load: float
    method: str
    seconds: float

    @property
    def name(self) -> str:
        return f"{self.sizes} {self.load:.0%} {self.method} {self.seconds:g} s".replace("%", " %")

    def question(self) -> dict[str, Any]:
        """Of homa-sim."""
        return {
            **_MEASURED_SYSTEM,
            "sizes": {"table": sizes.text_of(self.sizes)},
            "payload_gbps": _PAYLOAD_GBPS[self.load],
            "transport": methods.kind(vars(self)),
            "levels": methods.levels(vars(self)),
            "paper": self.sizes,
            "hosts": 32,
            "warmup_s": self.seconds / 10,
            "measure_s": self.seconds,
        }


def cells(only: Sequence[str], load: float | None, seconds: float | None) -> list[Cell]:
    return [
        Cell(table, at, method, seconds or _SECONDS[table])
        for table, at in _CELLS
        if (not only or table in only) and load in (None, at)
        for method in _METHODS
    ]


def simulate(cell: Cell, program: Path, kept: Path) -> Mapping[str, Any]:
    """The answer of homa-sim, from the file where it is kept if the question was the same."""
    file = kept / f"{cell.sizes}-{cell.load:g}-{cell.method}-{cell.seconds:g}s.json"
    question = cell.question()
    if file.exists():
        document = json.loads(file.read_text(encoding="utf-8"))
        if document["question"] == question:
            return document["answer"]
    print(f"{cell.name} ...", end=" ", file=sys.stderr, flush=True)
    began = time.monotonic()
    answer = _ask(program, question)
    wall_s = time.monotonic() - began
    print(f"{wall_s:.0f} s, {answer['cpu_s']:.0f} s of a processor", file=sys.stderr, flush=True)
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(json.dumps({"question": question, "answer": answer}), encoding="utf-8")
    unfinished.rename(file)
    return answer


def _ask(program: Path, question: Mapping[str, Any]) -> Mapping[str, Any]:
    done = subprocess.run(
        [program], input=json.dumps(question), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise TurntableError(f"{program} ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def rows(cell: Cell, answer: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """One for each published size."""
    paper = Reference(_REFERENCE / _paper_file(cell))
    rerun = Reference(_REFERENCE / "homa_slowdown_2019.csv")
    for point in _POINTS:
        metric = f"p99_slowdown_at_{point}"
        published = [reference.value(metric, vars(cell)) for reference in (paper, rerun)]
        if published == [None, None]:
            continue
        simulated = p99(answer, "slowdown_1000", point)
        yield (
            cell.sizes,
            f"{cell.load:.0%}",
            cell.method,
            f"{point} %",
            f"{p99(answer, 'rtt_ns', point):.1f}",
            f"{simulated:.2f}",
            *(text for value in published for text in _beside(simulated, value)),
            str(answer["packets_sent_again"]),
        )


def _paper_file(cell: Cell) -> str:
    return "homa_small_sizes.csv" if cell.sizes == "W2" else "homa_slowdown.csv"


def p99(answer: Mapping[str, Any], histogram: str, point: int) -> float:
    """Of the messages within one per cent of that size; us, or slowdown."""
    near = [answer["percentiles"][i][histogram] for i in (point - 1, point)]
    both = HdrHistogram.decode(near[0])
    both.add(HdrHistogram.decode(near[1]))
    return both.get_value_at_percentile(99) / 1000


def _beside(simulated: float, published: float | None) -> tuple[str, str]:
    if published is None:
        return "-", "-"
    return f"{published:g}", f"{simulated / published - 1:+.0%}"


_HEADER = (
    "sizes", "load", "method", "messages", "p99 us", "slowdown",
    "paper", "", "2019", "", "sent again",
)  # fmt: skip


def table(lines: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(line[i]) for line in (_HEADER, *lines)) for i in range(len(_HEADER))]
    return "\n".join(
        "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
        for line in (_HEADER, *lines)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    chosen = cells(options.only, options.load, options.seconds)
    try:
        options.kept.mkdir(parents=True, exist_ok=True)
        lines = [
            line
            for cell in chosen
            for line in rows(cell, simulate(cell, options.build / "bin" / "homa-sim", options.kept))
        ]
    except (OSError, TurntableError) as error:
        print(f"published: {error}", file=sys.stderr)
        return 1
    print(table(lines))
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    tables = sorted({table for table, _ in _CELLS})
    parser = argparse.ArgumentParser(
        prog="turntable_systems.homa.published", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--only", action="append", choices=tables, default=[], help="these sizes")
    parser.add_argument("--load", type=float, choices=sorted(_PAYLOAD_GBPS), help="this load")
    parser.add_argument("--seconds", type=float, help="to simulate, instead of each size's own")
    parser.add_argument(
        "--kept",
        type=Path,
        default=_REPOSITORY / "results" / "homa_published",
        help="directory of finished simulations (default: results/homa_published)",
    )
    parser.add_argument(
        "--build", type=Path, default=_REPOSITORY / "build", help="build directory (default: build)"
    )
    options = parser.parse_args(arguments)
    if options.seconds is not None and not options.seconds > 0:
        parser.error(f"--seconds is {options.seconds}; expected more than 0")
    if not (options.build / "bin" / "homa-sim").exists():
        parser.error(f"no homa-sim in {options.build}/bin; run `make build` or give --build")
    return options


if __name__ == "__main__":
    sys.exit(main())
