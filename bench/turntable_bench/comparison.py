"""A part beside its yardstick: alternating runs, medians, their ratio, and the table of all."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

YARDSTICK, OURS = "yardstick", "ours"


class NotRunError(Exception):
    """Something that the measurement needs is not installed; the message says what and how."""


class Unit(Enum):
    """What a run gives: (text, whether more is better, how a number is written)."""

    PAIRS_PER_S = ("pairs/s", True, "{:,.0f}")
    ENTRIES_PER_S = ("entries/s", True, "{:,.0f}")
    CELLS_PER_S = ("cells/s", True, "{:,.0f}")
    CPU_NS_PER_OP = ("ns CPU/op", False, "{:,.0f}")
    CPU_US_PER_PAIR = ("us CPU/pair", False, "{:,.2f}")
    CALLS_PER_S = ("calls/s", True, "{:,.0f}")
    CPU_US_PER_CALL = ("us CPU/call", False, "{:,.2f}")
    CPU_US_PER_REQUEST = ("us CPU/request", False, "{:,.2f}")
    REQUESTS_PER_S = ("requests/s", True, "{:,.0f}")
    MBPS = ("Mb/s", True, "{:,.0f}")
    CPU_S = ("s CPU", False, "{:,.2f}")
    MOPS = ("Mops/s", True, "{:,.2f}")
    MPPS = ("Mpps", True, "{:,.2f}")  # millions of frames per second of processor time
    MB = ("MB", False, "{:,.1f}")
    S = ("s", False, "{:,.3f}")
    MS = ("ms", False, "{:,.1f}")
    US = ("us", False, "{:,.0f}")
    PERCENT = ("%", False, "{:.2f}")
    D = ("", False, "{:.4f}")  # of two distributions
    LATE_US = ("us", False, "{:,.1f}")
    US_PER_RECORD = ("us/record", False, "{:,.2f}")

    @property
    def more_is_better(self) -> bool:
        return self.value[1]

    def text(self, number: float) -> str:
        return f"{self.value[2].format(number)} {self.value[0]}".rstrip()


@dataclass(frozen=True)
class Comparison:
    """What is compared, and the ratio (ours better by so much) that is aimed at, if any."""

    what: str
    yardstick: str
    ours: str
    unit: Unit
    goal: float | None = None


@dataclass(frozen=True)
class Outcome:
    """All runs of both sides in the unit of the comparison, in the order they were made."""

    comparison: Comparison
    runs: Mapping[str, Sequence[float]]

    def median(self, side: str) -> float:
        return statistics.median(self.runs[side])

    @property
    def ratio(self) -> float:
        """How many times better we are: above 1 is better than the yardstick."""
        ours, yardstick = self.median(OURS), self.median(YARDSTICK)
        return ours / yardstick if self.comparison.unit.more_is_better else yardstick / ours

    @property
    def verdict(self) -> str:
        goal = self.comparison.goal
        if goal is None:
            return "reported"
        return "met" if self.ratio >= goal else "not met"


@dataclass(frozen=True)
class Limit:
    """What is measured without a yardstick, beside a number that it is to stay below, if any."""

    what: str
    unit: Unit
    at_most: float | None = None


@dataclass(frozen=True)
class Reading:
    """All runs of what has a limit."""

    limit: Limit
    runs: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.runs)

    @property
    def verdict(self) -> str:
        if self.limit.at_most is None:
            return "reported"
        return "met" if self.median <= self.limit.at_most else "not met"


@dataclass(frozen=True)
class Gap:
    """A row without numbers: not run, because something is missing, or failed."""

    what: str
    reason: str
    failed: bool


Row = Outcome | Reading | Gap


def alternate(
    comparison: Comparison, rounds: int, sides: Mapping[str, Callable[[], float]]
) -> Outcome:
    """Measures both sides in every round, each first in every other one; tells every number."""
    single = {side: lambda measure=measure: (measure(),) for side, measure in sides.items()}
    (outcome,) = alternate_all([comparison], rounds, single)
    return outcome


def alternate_all(
    comparisons: Sequence[Comparison],
    rounds: int,
    sides: Mapping[str, Callable[[], Sequence[float]]],
) -> list[Outcome]:
    """As `alternate`, where a run gives a number for each of several comparisons."""
    runs: list[dict[str, list[float]]] = [{YARDSTICK: [], OURS: []} for _ in comparisons]
    names = {YARDSTICK: comparisons[0].yardstick, OURS: comparisons[0].ours}
    print(f"\n{comparisons[0].what}", flush=True)
    for number in range(rounds):
        order = (YARDSTICK, OURS) if number % 2 == 0 else (OURS, YARDSTICK)
        for side in order:
            for kept, measured in zip(runs, sides[side](), strict=True):
                kept[side].append(positive(measured, names[side]))
        texts = [
            f"{name} {', '.join(_last(comparisons, runs, side))}" for side, name in names.items()
        ]
        print(f"  round {number + 1}: {'   '.join(texts)}", flush=True)
    return [Outcome(c, kept) for c, kept in zip(comparisons, runs, strict=True)]


def _last(
    comparisons: Sequence[Comparison], runs: Sequence[Mapping[str, Sequence[float]]], side: str
) -> list[str]:
    pairs = zip(comparisons, runs, strict=True)
    return [comparison.unit.text(kept[side][-1]) for comparison, kept in pairs]


def repeat(limit: Limit, rounds: int, measure: Callable[[], float]) -> Reading:
    """Measures so often; tells every number."""
    print(f"\n{limit.what}", flush=True)
    runs: list[float] = []
    for number in range(rounds):
        runs.append(positive(measure(), limit.what))
        print(f"  round {number + 1}: {limit.unit.text(runs[-1])}", flush=True)
    return Reading(limit, runs)


def positive(number: float, name: str) -> float:
    """A measurement of nothing is a failure, not a zero."""
    if not number > 0:
        raise RuntimeError(f"{name}: measured {number}, expected a positive number; run it again")
    return number


def table(rows: Iterable[Row]) -> str:
    """One line per comparison, in columns."""
    lines = [("", "yardstick", "ours", "ratio", "goal", "")]
    lines += [_cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]) - 1)]
    texts = [
        "  ".join(
            [*(cell.ljust(width) for cell, width in zip(line[:-1], widths, strict=True)), line[-1]]
        )
        for line in lines
    ]
    texts = [text.rstrip() for text in texts]
    return "\n".join([texts[0], "-" * max(map(len, texts)), *texts[1:]])


def _cells(row: Row) -> tuple[str, ...]:
    match row:
        case Outcome():
            return _outcome_cells(row)
        case Reading(limit):
            goal = "-" if limit.at_most is None else f"<= {limit.unit.text(limit.at_most)}"
            return (limit.what, "-", limit.unit.text(row.median), "-", goal, row.verdict)
        case Gap():
            return (row.what, "-", "-", "-", "-", "FAILED" if row.failed else "not run")


def _outcome_cells(row: Outcome) -> tuple[str, ...]:
    comparison = row.comparison
    return (
        comparison.what,
        f"{comparison.yardstick}: {comparison.unit.text(row.median(YARDSTICK))}",
        f"{comparison.ours}: {comparison.unit.text(row.median(OURS))}",
        f"{row.ratio:.2f}",
        "-" if comparison.goal is None else f">= {comparison.goal:g}",
        row.verdict,
    )
