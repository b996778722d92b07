"""Popularity that changes while clients run: what every second shows, how deep throughput falls at
each change, and how long it takes to return (docs/farreach.md, Dynamic popularity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from statistics import fmean
from typing import Any

from turntable.results import CellResult, Row
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.seconds import Second
from turntable.verdict import Case
from turntable_systems.farreach import admission, popularity
from turntable_systems.farreach.methods import caches
from turntable_systems.farreach.popularity import Popularity

RETURNED_WITHIN = 0.05  # of what is expected, where the experiment has no bound of its own
_BEFORE_S = 2  # whole seconds before a change whose mean it is compared with
_AT_ONCE_S = 2  # a fall is looked for in so many seconds from the change on
_EARLY_S = 0.05  # so much before a full second, a change belongs to the next

COLUMNS = (
    "predicted_dip",
    "dip",
    "return_s",
    "hot_threshold",
    "hot_threshold_at_rate",
)


@dataclass(frozen=True)
class Change:
    """Throughput around one change of popularity: in units of the busier server of each second, so
    that seconds in which the machine held the servers up are no fall.
    """

    period: int  # that begins
    at_s: float  # in the window; of the last client host
    before: float | None  # mean of the last seconds
    level: float | None  # what it should be once the switch has the new hot keys
    lowest: float | None  # second from the change on
    return_s: int | None  # seconds until it is within the bound of `level`; None: it is not
    predicted_dip: float | None  # share of the throughput that the first moment costs

    @property
    def dip(self) -> float | None:
        """Share of the level that the lowest second lacks."""
        if self.level is None or self.lowest is None:
            return None
        return max(0.0, 1 - self.lowest / self.level)


def instants(measurement: Measurement) -> list[tuple[float, int]]:
    """When each period began at the last of the client hosts, and which."""
    begun: dict[int, float] = {}
    for event in measurement.events:
        verb, _, value = event.label.partition(" ")
        if verb == popularity.VERB and event.error is None:
            begun[int(value)] = max(event.at_s, begun.get(int(value), event.at_s))
    return sorted((at_s, period) for period, at_s in begun.items())


def changes(
    measurement: Measurement, predicted: Popularity | None, within: float = RETURNED_WITHIN
) -> list[Change]:
    """In the measured window. within: of the level; then throughput has returned."""
    begun = [(at_s, period) for at_s, period in instants(measurement) if at_s >= 0]
    rates = {
        second.second: second.normalized
        for second in measurement.each_second
        if second.normalized is not None
    }
    firsts = [floor(at_s + _EARLY_S) for at_s, _ in begun]
    ends = [*firsts[1:], max(rates, default=-1) + 1][: len(firsts)]
    # What is before a change are seconds in which the one before it is over.
    since = [0, *(first + _AT_ONCE_S for first in firsts)][: len(firsts)]
    return [
        _change(rates, at_s, period, (begin, first, end), predicted, within)
        for (at_s, period), begin, first, end in zip(begun, since, firsts, ends, strict=True)
    ]


def _change(
    rates: Mapping[int, float],
    at_s: float,
    period: int,
    seconds: tuple[int, int, int],
    predicted: Popularity | None,
    within: float,
) -> Change:
    """seconds: from which on the period before counts, the first of this one, and of the next."""
    begin, first, end = seconds
    begin = min(max(begin, first - _BEFORE_S), first - 1)  # at least one
    earlier = [rates[k] for k in range(begin, first) if k in rates]
    before = fmean(earlier) if earlier else None
    level = None if before is None else before * _step(predicted, period)
    following = {k: rates[k] for k in range(first, end) if k in rates}
    soon = {k: rate for k, rate in following.items() if k < first + _AT_ONCE_S}
    lowest = min(soon, key=lambda k: soon[k], default=None)
    back = (
        k - first
        for k, rate in following.items()
        if level is not None and lowest is not None and rate >= (1 - within) * level
        if k >= lowest
    )
    return Change(
        period,
        at_s,
        before,
        level,
        None if lowest is None else soon[lowest],
        0 if _holds(soon, level, within) else next(back, None),
        predicted_dip(predicted, period),
    )


def _holds(soon: Mapping[int, float], level: float | None, within: float) -> bool:
    return bool(soon) and level is not None and min(soon.values()) >= (1 - within) * level


def _step(predicted: Popularity | None, period: int) -> float:
    """By how much other hot keys change what the servers can do, with no key out of place."""
    if predicted is None or not 0 < period < len(predicted.periods):
        return 1.0
    before, after = (
        predicted.periods[index].normalized(adapted=True) for index in (period - 1, period)
    )
    return after / before if before and after else 1.0


def predicted_dip(predicted: Popularity | None, period: int) -> float | None:
    """Throughput that is lost while the switch has the keys of the period before."""
    if predicted is None or not 0 < period < len(predicted.periods):
        return None
    first, then = (
        predicted.periods[period].normalized(adapted=adapted) for adapted in (False, True)
    )
    return 1 - first / then if first and then else None


def returned_within(bounds: Mapping[str, Any]) -> float:
    return bounds.get("returned_within", RETURNED_WITHIN)


def columns(case: Case) -> Row:
    """Of one row of summary.csv; empty where popularity is not played with. dip: the mean over the
    changes; return_s: the longest.

    There, as in the paper, ratios are those of single seconds, and their means.
    """
    row: Row = dict.fromkeys(COLUMNS)
    if not case.complete or not popularity.is_played(case.parameters):
        return row
    within = returned_within(case.bounds)
    seen = [c for m in case.measurements for c in changes(m, case.prediction.popularity, within)]
    returns = [change.return_s for change in seen]
    rate = fmean(measurement.ops_per_s for measurement in case.measurements)
    seconds = [second for m in case.measurements for second in m.each_second]
    row |= {
        "normalized_throughput": _mean(second.normalized for second in seconds),
        "imbalance_ratio": _mean(second.imbalance for second in seconds),
        **_expected(case),
        "predicted_dip": _mean(change.predicted_dip for change in seen),
        "dip": _mean(change.dip for change in seen),
        "return_s": None if not returns or None in returns else max(returns),
    }
    if admission.is_live(case.parameters) and caches(case.parameters):
        row["hot_threshold"] = admission.hot_threshold(case.parameters, case.prediction)
        row["hot_threshold_at_rate"] = admission.threshold_at(rate)
    return row


def _expected(case: Case) -> Row:
    """By the traces, with the hot keys of every second where the method wants them."""
    predicted, capacity = case.prediction.popularity, case.parameters["capacity_ops_per_s"]
    if predicted is None:
        return {}
    periods = [
        predicted.periods[period]
        for measurement in case.measurements
        for period in _in_force(measurement)
        if period < len(predicted.periods)
    ]
    normalized = _mean(period.normalized(adapted=True) for period in periods)
    return {
        "trace_normalized": normalized,
        "trace_imbalance": _mean(period.imbalance(adapted=True) for period in periods),
        "trace_aggregate_ops_per_s": normalized * capacity if normalized and capacity else None,
    }


def _in_force(measurement: Measurement) -> list[int]:
    """The period of each second of the window."""
    begun = instants(measurement)
    return [
        next((k for at_s, k in reversed(begun) if at_s < second.second + 0.5), 0)
        for second in measurement.each_second
    ]


def _mean(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


@dataclass(frozen=True)
class Played:
    """A change in one round of a cell, for tables."""

    cell: CellResult
    row: Row  # of its round, in summary.csv
    change: Change


def played(cells: Sequence[CellResult]) -> list[Played]:
    """Every change of the rounds that count; of all rounds where none does."""
    return [
        Played(cell, turn.row, change)
        for cell in cells
        if popularity.changes(cell.parameters)
        for turn in cell.shown
        for measurement in turn.measurements
        for change in changes(
            measurement, turn.prediction.popularity, returned_within(cell.run.plan.validity)
        )
    ]


def seconds_of(cell: CellResult) -> list[Second]:
    """Of the first round that counts, or else of the first."""
    turns = cell.shown
    return [s for m in turns[0].measurements for s in m.each_second] if turns else []
