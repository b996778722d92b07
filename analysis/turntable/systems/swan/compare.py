"""Two experiments beside each other, field by field: the ratio of their percentiles, second to
first, with the 95 % interval of Welch's test on the logarithms. A field that FAILs in either has
none: its percentile is that of what was answered at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from turntable.grid import Column, Table
from turntable.systems.swan.intervals import Ratio, ratio
from turntable.systems.swan.profile import Field, Profile
from turntable.systems.swan.rendering import FAIL

_COLUMNS = (
    Column("", "cell", "cell", ""),
    Column("", "aggressor", "aggressor", ""),
    Column("", "load", "load", ".2f"),
    Column("geometric mean (µs)", "first", "first", ",.0f"),
    Column("geometric mean (µs)", "second", "second", ",.0f"),
    Column("second / first", "ratio", "ratio", ".2f"),
    Column("second / first", "interval", "interval", ">"),
    Column("second / first", "seen from", "seen", ">"),
    Column("", "differs", "differs", ""),
)


@dataclass(frozen=True)
class Pair:
    """The same field of both."""

    cell: str
    aggressor: str
    load: float
    first: Field
    second: Field

    @property
    def fails(self) -> int:
        """In how many of both the load was not reached."""
        return self.first.fails + self.second.fails

    @property
    def ratio(self) -> Ratio | None:
        if self.fails:
            return None
        one, other = self.first.sli, self.second.sli
        return ratio(one, other) if one and other else None

    @property
    def covers_no_difference(self) -> bool | None:
        """None: it has no interval."""
        clear = self.ratio.is_clear if self.ratio else None
        return None if clear is None else not clear


def pairs(firsts: Sequence[Profile], seconds: Sequence[Profile]) -> list[Pair]:
    """Of profiles that agree in what tells those of either experiment apart."""
    names = sorted(_telling(firsts) | _telling(seconds))
    others = {_place(profile, names): profile for profile in seconds}
    return [
        pair
        for one in firsts
        if (other := others.get(_place(one, names)))
        for pair in _fields(one, other)
    ]


def _telling(profiles: Sequence[Profile]) -> set[str]:
    every = {name for one in profiles for name in one.parameters}
    return {name for name in every if len({_place(one, [name]) for one in profiles}) > 1}


def _place(profile: Profile, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(profile.parameters.get(name)) for name in names)


def _fields(first: Profile, second: Profile) -> Iterator[Pair]:
    loads = {round(share, 6): index for index, share in enumerate(second.loads)}
    for (name, index), field in first.fields.items():
        beside = loads.get(round(first.loads[index], 6))
        if beside is not None and (name, beside) in second.fields:
            yield Pair(first.label, name, field.load, field, second.fields[name, beside])


def comparison_table(found: Sequence[Pair]) -> Table:
    return Table(title(found), _COLUMNS, [_row(pair) for pair in found])


def title(found: Sequence[Pair]) -> str:
    known = [pair for pair in found if pair.covers_no_difference is not None]
    failing = _failing(found)
    if not known:
        none = "no interval: fewer than 3 repetitions of either that count"
        return f"Field by field; {none}{failing}"
    covering = sum(bool(pair.covers_no_difference) for pair in known)
    without = sum(not pair.fails for pair in found) - len(known)
    rest = (f"; without an interval: {without}" if without else "") + failing
    seen = [factor for pair in known if pair.ratio and (factor := pair.ratio.smallest_seen)]
    return (
        f"Field by field: in {covering} of {len(known)} ({covering / len(known):.0%}) the 95 % "
        f"interval of the difference covers 0 (of the ratio: 1){rest}.\n"
        f"That says no more than the scatter allows: a true factor of {median(seen):.2f} (median "
        f"of the fields; {min(seen):.2f} to\n{max(seen):.2f}) is seen in every other comparison"
    )


def _failing(found: Sequence[Pair]) -> str:
    times = [pair.fails for pair in found]
    both, one = times.count(2), times.count(1)
    counts = [f"in both {both}"] * bool(both) + [f"in one alone {one}"] * bool(one)
    return f"; FAIL {', '.join(counts)}" if counts else ""


def _row(pair: Pair) -> dict[str, object]:
    found = pair.ratio
    interval = found.interval if found else None
    differs = {None: None, True: "no", False: "yes"}[pair.covers_no_difference]
    if pair.fails:
        differs = f"{FAIL} in both" if pair.fails == 2 else f"yes, {FAIL} in one"
    return {
        "cell": pair.cell.replace(" · ", " "),
        "aggressor": pair.aggressor,
        "load": pair.load,
        "first": _centre(pair.first),
        "second": _centre(pair.second),
        "ratio": found.value if found else None,
        "interval": f"{interval.low:.2f} to {interval.high:.2f}" if interval else None,
        "seen": f"x{found.smallest_seen:.2f}" if found and found.smallest_seen else None,
        "differs": differs,
    }


def _centre(field: Field) -> float | None:
    return field.sli.centre if field.sli else None
