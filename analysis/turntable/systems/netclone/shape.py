"""Does a run have the shape that the paper's figures have? Seven statements about its cells; each
holds, does not, or has nothing to be tested on (docs/netclone.md, The shape).

All valid rounds of a cell count: latencies are those of one histogram of them all, shares and rates
are means, and a cell of which a round is saturated is so.

p99 of a bimodal distribution sits between two of its values and jumps from one to the other:
statements about it take the mean as well, and allow more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from turntable.results import CellResult
from turntable.systems.netclone import peculiar, times
from turntable.systems.netclone.saturation import SATURATED, STEADY

Row = Mapping[str, Any]  # of a cell; names are those of summary.csv
_MEANS = (
    *("clone_rate", "clones_dropped_share", "redundant_share"),
    *("offered_rps", "delivered_rps"),
)

# Two methods are as good as each other within so much.
_ALIKE = 1.05
_ALIKE_BIMODAL = 1.15
_LOW_LOAD, _LEAST_GAIN, _NEAR_CCLONE = 0.3, 1.5, 1.25
_COLLAPSED_FROM, _WHOLE_TO, _COLLAPSED = 0.6, 0.4, 3.0
_CONVERGES_AT = 0.6
_BINARY_BELOW, _BINARY_ABOVE = 0.1, 0.05
_MONOTONOUS = 0.02
_FILTERED, _LEAKED_WITHIN = 1e-4, 0.1


@dataclass(frozen=True)
class Finding:
    statement: str
    holds: bool | None  # None: nothing in the run says
    details: tuple[str, ...] = ()  # what does not hold


def findings(rows: Sequence[Row]) -> list[Finding]:
    return [
        _finding(f"({number}) {statement}", list(test(rows)))
        for number, (statement, test) in enumerate(_STATEMENTS, start=1)
    ]


def rows_of(cells: Sequence[CellResult]) -> list[Row]:
    """Of those that have a valid round."""
    return [_row(cell) for cell in cells if cell.counted]


def _row(cell: CellResult) -> Row:
    rows = [turn.row for turn in cell.counted]
    found = {name: mean.mean if (mean := cell.measured(name)) else None for name in _MEANS}
    steady = all(row["state"] == STEADY for row in rows)
    return {
        **rows[0],  # what all rounds have in common
        **found,
        **times.values(
            times.shorter(cell.latency, cell.parameters["dilation"]), rows[0]["tail_us"]
        ),
        "state": STEADY if steady else SATURATED,
    }


Tested = tuple[bool, str]
Test = Callable[[Sequence[Row]], Iterator[Tested]]


def _finding(statement: str, tested: Sequence[Tested]) -> Finding:
    if not tested:
        return Finding(statement, None)
    wrong = tuple(text for holds, text in tested if not holds)
    return Finding(statement, not wrong, wrong)


def _low_load(rows: Sequence[Row]) -> Iterator[Tested]:
    for at, cells in _by_method(rows):
        if at.load > _LOW_LOAD or not {"noclone", "cclone", "netclone"} <= cells.keys():
            continue
        if at.is_bimodal:
            continue
        plain, both, net = (cells[m]["p99_us"] for m in ("noclone", "cclone", "netclone"))
        alike = net / both <= _NEAR_CCLONE and plain / net >= _LEAST_GAIN
        yield alike, f"{at}: noclone {plain:.0f}, cclone {both:.0f}, netclone {net:.0f} us"


def _cclone_collapses(rows: Sequence[Row]) -> Iterator[Tested]:
    for at, cells in _by_method(rows):
        if "cclone" not in cells:
            continue
        row = cells["cclone"]
        if at.load >= _COLLAPSED_FROM:
            plain = cells.get("noclone", {}).get("p99_us")
            slow = plain is not None and row["p99_us"] > _COLLAPSED * plain
            yield row["state"] == SATURATED or slow, f"{at}: cclone is not saturated"
        elif at.load <= _WHOLE_TO:
            yield row["state"] == STEADY, f"{at}: cclone is saturated"


def _never_worse_until(rows: Sequence[Row]) -> Iterator[Tested]:
    for at, cells in _by_method(rows):
        if {"noclone", "netclone"} <= cells.keys() and at.load <= _CONVERGES_AT:
            yield _at_most(at, cells["netclone"], cells["noclone"])


def _racksched_never_worse(rows: Sequence[Row]) -> Iterator[Tested]:
    for at, cells in _by_method(rows):
        if {"netclone", "netclone-racksched"} <= cells.keys():
            yield _at_most(at, cells["netclone-racksched"], cells["netclone"])


def _at_most(at: _Place, row: Row, other: Row) -> Tested:
    """`row` is as fast as `other`, or faster; a saturated one is slower than any other."""
    words = f"{at}: {row['method']}"
    if other["state"] == SATURATED:
        return True, words
    if row["state"] == SATURATED:
        return False, f"{words} is saturated, {other['method']} is not"
    alike = _ALIKE_BIMODAL if at.is_bimodal else _ALIKE
    columns = ("mean_us", "p99_us")
    holds = all(row[name] <= alike * other[name] for name in columns)
    told = ", ".join(f"{name} {row[name]:.0f} against {other[name]:.0f}" for name in columns)
    return holds, f"{words} is slower than {other['method']}: {told}"


def _binary_laedge(rows: Sequence[Row]) -> Iterator[Tested]:
    by_servers: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        if row["method"] == "laedge" and row["laedge_mode"] == "binary":
            by_servers.setdefault((row["servers"], row["workers"]), []).append(row)
    for (servers, workers), group in by_servers.items():
        if not any(row["state"] == SATURATED for row in group):
            continue
        # The coordinator takes the place of a server, or has one of its own.
        low, high = (servers - 1) / (servers * workers), 1 / workers
        most = max(row["load"] * row["delivered_rps"] / row["offered_rps"] for row in group)
        holds = low * (1 - _BINARY_BELOW) <= most <= high * (1 + _BINARY_ABOVE)
        words = f"{servers} x {workers}: delivers {most:.3f} of the capacity"
        yield holds, f"{words}, expected {low:.3f} to {high:.3f}"


def _clone_rate_falls(rows: Sequence[Row]) -> Iterator[Tested]:
    lines: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for row in rows:
        if row["method"].startswith("netclone") and row["clone_rate"] is not None:
            key = (row["method"], *_same(row))
            lines.setdefault(key, []).append((row["load"], row["clone_rate"]))
    for key, points in lines.items():
        ordered = sorted(points)
        for (low, more), (high, less) in pairwise(ordered):
            text = f"{key[0]} {key[1]}: cloned {more:.2f} at load {low:g}, {less:.2f} at {high:g}"
            if high > low:
                yield less <= more + _MONOTONOUS, text


def _filtered(rows: Sequence[Row]) -> Iterator[Tested]:
    for row in rows:
        share, dropped = row["redundant_share"], row["clones_dropped_share"]
        if row["filter"] is None or share is None or row["state"] == SATURATED:
            continue
        text = f"{row['method']} at load {row['load']:g}: {share:.4f} redundant answers per request"
        if row["filter"]:
            yield share <= _FILTERED, f"{text} with the filter"
        else:
            expected = row["clone_rate"] * (1 - (dropped or 0.0))
            yield abs(share - expected) <= _LEAKED_WITHIN, f"{text} without, not {expected:.2f}"


_STATEMENTS: tuple[tuple[str, Test], ...] = (
    ("at low load NetClone is about as fast as C-Clone, NoClone's p99 much higher", _low_load),
    ("C-Clone collapses just past half the load", _cclone_collapses),
    ("NetClone is not slower than NoClone up to 0.6 of the load", _never_worse_until),
    ("RackSched makes NetClone nowhere slower", _racksched_never_worse),
    ("LAEDGE with one request per server saturates at (S-1)/(S W) to 1/W", _binary_laedge),
    ("the share of cloned requests falls with load", _clone_rate_falls),
    ("with the filter no answer comes twice, without it those of clones do", _filtered),
)


@dataclass(frozen=True)
class _Place:
    """Where methods are compared."""

    distribution: str
    load: float
    servers: str

    @property
    def is_bimodal(self) -> bool:
        return times.has_few_values(self.distribution)

    def __str__(self) -> str:
        return f"{self.distribution} at load {self.load:g}"


def _same(row: Row) -> tuple[Any, ...]:
    """What tells lines of a method apart."""
    columns = map(peculiar.column, peculiar.OF_ALL)
    return (row["distribution"], *(row.get(name) for name in columns))


def _by_method(rows: Iterable[Row]) -> Iterator[tuple[_Place, dict[str, Row]]]:
    """Rows with the filter on and the coordinator's credits per slot, that differ in method."""
    places: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        if row["filter"] is not False and row["laedge_mode"] != "binary":
            places.setdefault((row["load"], *_same(row)), {})[row["method"]] = row
    for (load, distribution, servers, *_), cells in places.items():
        yield _Place(distribution, load, str(servers)), cells
