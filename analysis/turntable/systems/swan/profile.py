"""A cell's profile: memcached's latency by aggressor and load, over all repetitions.

A *field* is one aggressor at one load. Iterations that break a rule of the verdict are left out of
it, each by itself: the others of their round count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import fmean, geometric_mean
from typing import Any

from turntable.percentiles import percentile_us
from turntable.results import CellResult, TurnResult
from turntable.systems.swan.blocks import chance_of_order
from turntable.systems.swan.intervals import PERCENT, Spread
from turntable.systems.swan.measurement import Measurement
from turntable.systems.swan.rules import reasons_of
from turntable.verdict import Case
from turntable_systems.swan import aggressors
from turntable_systems.swan.aggressors import BASELINE, PLACEBO

FAIL_BELOW = 0.90  # of what was offered: then the load was not reached


@dataclass(frozen=True)
class Repetition:
    """One iteration."""

    round: int
    repeat: int
    sli_us: float | None  # the percentile, from the intended instant
    from_send_us: float | None  # the same from the sending
    target_per_s: float
    offered_per_s: float  # that the drawn arrivals had in the window
    achieved_per_s: float
    progress_per_s: float | None  # of the aggressor, in `unit` per second
    unit: str | None
    reasons: tuple[str, ...]  # why it is left out


@dataclass(frozen=True)
class Field:
    aggressor: str
    load: float  # share of the peak
    index: int
    all: tuple[Repetition, ...]

    @cached_property
    def counted(self) -> tuple[Repetition, ...]:
        return tuple(one for one in self.all if not one.reasons)

    @property
    def left_out(self) -> int:
        return len(self.all) - len(self.counted)

    @cached_property
    def sli(self) -> Spread | None:
        """A value per round; None where no repetition counts."""
        return _spread(self.by_round)

    @cached_property
    def by_round(self) -> dict[int, list[float]]:
        return _by_round((one.round, one.sli_us) for one in self.counted)

    @cached_property
    def from_send(self) -> Spread | None:
        found = _by_round((one.round, one.from_send_us) for one in self.counted)
        return _spread(found)

    @property
    def sli_us(self) -> float | None:
        """The mean of the rounds' means, as Swan has it: what the SLO is held against."""
        return _mean([fmean(values) for values in self.by_round.values()])

    @property
    def worst_us(self) -> float | None:
        """Of the iterations that count."""
        return max((max(values) for values in self.by_round.values()), default=None)

    @property
    def target_per_s(self) -> float | None:
        return _mean([one.target_per_s for one in self.all])

    @property
    def achieved_share(self) -> float | None:
        """Mean rate of answers over mean rate of requests that were due."""
        offered = _mean([one.offered_per_s for one in self.counted])
        if self.achieved_per_s is None or not offered:
            return None
        return self.achieved_per_s / offered

    @property
    def achieved_per_s(self) -> float | None:
        return _mean([one.achieved_per_s for one in self.counted])

    @property
    def progress_per_s(self) -> float | None:
        return _mean([one.progress_per_s for one in self.counted])

    @property
    def unit(self) -> str | None:
        return next((one.unit for one in self.counted if one.unit), None)

    @property
    def fails(self) -> bool:
        share = self.achieved_share
        return share is not None and share < FAIL_BELOW


@dataclass(frozen=True, eq=False)
class Profile:
    label: str  # of the cell
    parameters: Mapping[str, Any]
    aggressors: tuple[str, ...]  # rows, baseline and placebo first
    loads: tuple[float, ...]  # shares of the peak, ascending
    fields: Mapping[tuple[str, int], Field]
    peak_per_s: float | None

    @property
    def slo_us(self) -> float:
        return self.parameters["slo_us"]

    @property
    def percentile(self) -> str:
        return f"p{self.parameters['percentile']:g}"

    @property
    def indices(self) -> range:
        return range(len(self.loads))

    def row(self, aggressor: str) -> list[Field]:
        return [self.fields[aggressor, index] for index in self.indices]

    def target_per_s(self, index: int) -> float | None:
        return _mean([self.fields[name, index].target_per_s for name in self.aggressors])

    def is_broken_once(self, field: Field) -> bool:
        """The mean holds the SLO, and not each iteration does."""
        if field.sli_us is None or field.worst_us is None:
            return False
        return field.sli_us <= self.slo_us < field.worst_us

    def is_unresolved(self, field: Field) -> bool:
        """Not known to differ from the baseline, in a profile where others are: with fewer
        repetitions than an interval needs that is not known either.
        """
        if field.aggressor == BASELINE or field.sli is None or not self._has_intervals:
            return False
        return not self.is_resolved(field)

    @cached_property
    def _has_intervals(self) -> bool:
        return any(field.sli and field.sli.interval for field in self.fields.values())

    def is_resolved(self, field: Field) -> bool | None:
        """Whether its interval and the baseline's have nothing in common, or in every round all of
        it lies beyond the baseline, which chance explains in fewer than 5 % (of an interval of
        95 %). None: one of them has no interval, or it is the baseline.
        """
        if field.aggressor == BASELINE or (BASELINE, field.index) not in self.fields:
            return None
        baseline = self.fields[BASELINE, field.index]
        spreads = (field.sli, baseline.sli)
        intervals = [spread.interval for spread in spreads if spread]
        if len(intervals) < len(spreads) or None in intervals:
            return None
        if not intervals[0].overlaps(intervals[1]):
            return True
        return chance_of_order(baseline.by_round, field.by_round) < 1 - PERCENT / 100


@lru_cache(maxsize=64)
def profile_of(cell: CellResult) -> Profile:
    found: dict[tuple[str, int], list[Repetition]] = {}
    shares: dict[int, float] = {}
    for turn in cell.turns:
        for planned in (iteration.data for iteration in turn.turn.iterations):
            shares[planned["load_index"]] = planned["load"]
            found.setdefault((planned["aggressor"], planned["load_index"]), [])
        for measurement, repetition in _repetitions(cell, turn):
            place = measurement.place
            found[place.aggressor, place.index].append(repetition)
    return assemble(cell.label, cell.parameters, found, shares, _peak(cell))


def assemble(
    label: str,
    parameters: Mapping[str, Any],
    found: Mapping[tuple[str, int], Sequence[Repetition]],
    shares: Mapping[int, float],
    peak_per_s: float | None,
) -> Profile:
    """found: by aggressor and index of the load; shares: of the peak, by index."""
    rows = in_order(parameters, {name for name, _ in found})
    order = sorted(shares)
    fields = {
        (name, at): Field(name, shares[index], at, tuple(found.get((name, index), ())))
        for name in rows
        for at, index in enumerate(order)
    }
    loads = tuple(shares[index] for index in order)
    return Profile(label, parameters, rows, loads, fields, peak_per_s)


def _repetitions(cell: CellResult, turn: TurnResult) -> list[tuple[Measurement, Repetition]]:
    case = Case(
        turn.measurements,
        turn.expected_iterations,
        cell.run.plan.validity,
        cell.parameters,
        cell.run.fidelity_class,
    )
    return [(one, _repetition(one, turn.round, case)) for one in turn.measurements]


def _repetition(measurement: Measurement, round_: int, case: Case) -> Repetition:
    generator, job = measurement.generator, measurement.best_effort
    progress = job.progress if job else None
    return Repetition(
        round=round_,
        repeat=measurement.place.repeat,
        sli_us=sli_us(measurement, case.parameters),
        from_send_us=from_send_us(measurement, case.parameters),
        target_per_s=generator.target_per_s,
        offered_per_s=measurement.offered_per_s,
        achieved_per_s=measurement.achieved_per_s,
        progress_per_s=progress.per_s if progress else None,
        unit=progress.unit if progress else None,
        reasons=reasons_of(measurement, case),
    )


def sli_us(measurement: Measurement, parameters: Mapping[str, Any]) -> float | None:
    generator = measurement.generator
    unanswered = generator.lost + generator.unsent
    return _percentile_us(generator.latency_ns, parameters, unanswered)


def from_send_us(measurement: Measurement, parameters: Mapping[str, Any]) -> float | None:
    """Requests that were never sent are none of its."""
    generator = measurement.generator
    return _percentile_us(generator.from_send_ns, parameters, generator.lost)


def _percentile_us(
    texts: tuple[str, ...], parameters: Mapping[str, Any], unanswered: int
) -> float | None:
    """What has no answer has been waited for until the end of the drain."""
    waited_us = 1e6 * parameters["drain_s"]
    return percentile_us(texts, parameters["percentile"], unanswered, waited_us)


def in_order(parameters: Mapping[str, Any], present: Collection[str]) -> tuple[str, ...]:
    """Rows wherever they stand: the baseline, the placebo, then as the parameter `aggressors` has
    them. Iterations are in an order that was drawn.
    """
    asked = aggressors.names(parameters)
    order = dict.fromkeys([BASELINE, PLACEBO, *asked, *sorted(present)])
    return tuple(name for name in order if name in present)


def _peak(cell: CellResult) -> float | None:
    measured = [m.generator.peak_per_s for turn in cell.turns for m in turn.measurements]
    return _mean(measured) or cell.parameters.get("peak_load") or None


def _by_round(values: Iterable[tuple[int, float | None]]) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for round_, value in values:
        if value:
            found.setdefault(round_, []).append(value)
    return found


def _spread(by_round: Mapping[int, Sequence[float]]) -> Spread | None:
    """Of a round's values their geometric mean: rows of one block, such as its baselines, share a
    memcached and an hour, and are no independent repetitions.
    """
    values = tuple(geometric_mean(values) for values in by_round.values())
    return Spread(values) if values else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
