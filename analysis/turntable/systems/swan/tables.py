"""The profile as tables: for a terminal of 100 columns, and with colours for pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from turntable.grid import Column, Table
from turntable.systems.swan.intervals import PERCENT
from turntable.systems.swan.profile import Field, Profile
from turntable.systems.swan.rendering import FAIL, Look, achieved_rule, final_rule, older_rule

NOT_RESOLVED, BROKEN_ONCE, LEFT_OUT = "≈", "!", "*"
LEGEND = (
    "A field is the mean of its repetitions. "
    f"{NOT_RESOLVED}: not resolved from the baseline: intervals overlap, and so do values of a "
    "round, or too few repetitions count (of a profile with fewer rounds than an interval needs "
    f"no field is marked). {BROKEN_ONCE}: the mean is within the SLO, and not "
    f"every repetition was. {LEFT_OUT}: iterations that break a rule of the verdict "
    "are left out, the others of their round count (swan show UUID --all has them). N/A: nothing "
    "counts. FAIL: less than 90 % of the load was reached."
)
_LOADS_BESIDE = 10  # in a terminal; more go into a second table

_RATES = "target rate (requests/s)"

Rule = Callable[..., Look]


@dataclass(frozen=True)
class Coloured:
    """A table of a page."""

    title: str
    heads: Sequence[str]  # of the loads
    rows: Sequence[tuple[str, Sequence[tuple[Look, str]]]]  # aggressor, (look, words on it)


def latency_look(profile: Profile, rule: Rule = final_rule, normalized: bool = True) -> Callable:
    def look(field: Field) -> Look:
        found = rule(field.sli_us, profile.slo_us, field.achieved_share, normalized)
        if found.text == FAIL:
            return replace(found, text=f"{FAIL}{_left_out(field)}")
        before = NOT_RESOLVED if profile.is_unresolved(field) else ""
        after = BROKEN_ONCE if profile.is_broken_once(field) else ""
        return replace(found, text=f"{before}{found.text}{after}{_left_out(field)}")

    return look


def achieved_look(field: Field, normalized: bool = True) -> Look:
    found = achieved_rule(field.achieved_share, field.achieved_per_s, normalized)
    return replace(found, text=f"{found.text}{_left_out(field)}")


def _left_out(field: Field) -> str:
    return LEFT_OUT if field.left_out else ""


def latency_title(profile: Profile, older: bool = False, normalized: bool = True) -> str:
    slo = f"{profile.slo_us:,.0f} µs"
    what = (
        f"{profile.percentile} in % of the SLO of {slo}"
        if normalized
        else (f"{profile.percentile} in µs; SLO {slo}")
    )
    return f"{what}{', older rule' if older else ''} ({profile.label.replace(' · ', ', ')})"


def achieved_title(profile: Profile) -> str:
    return f"Achieved load in % of what was offered ({profile.label.replace(' · ', ', ')})"


def coloured(profile: Profile, title: str, look: Callable[[Field], Look]) -> Coloured:
    rows = [
        (name, [(look(field), words(profile, field)) for field in profile.row(name)])
        for name in profile.aggressors
    ]
    return Coloured(title, [_head(profile, index) for index in profile.indices], rows)


def plain(profile: Profile, title: str, look: Callable[[Field], Look]) -> Iterator[Table]:
    """Several where there are more loads than a line has room for."""
    for begin in range(0, len(profile.loads), _LOADS_BESIDE):
        some = profile.indices[begin : begin + _LOADS_BESIDE]
        columns = [
            Column("", "aggressor", "aggressor", ""),
            *(Column(_RATES, _head(profile, index), str(index), ">") for index in some),
        ]
        rows = [
            {"aggressor": name} | {str(i): look(profile.fields[name, i]).text for i in some}
            for name in profile.aggressors
        ]
        yield Table(title, columns, rows)


def latency_tables(profile: Profile, older: bool = False, normalized: bool = True) -> list[Table]:
    look = latency_look(profile, older_rule if older else final_rule, normalized)
    return list(plain(profile, latency_title(profile, older, normalized), look))


def achieved_tables(profile: Profile) -> list[Table]:
    return list(plain(profile, achieved_title(profile), achieved_look))


def words(profile: Profile, field: Field) -> str:
    """What a page says of a field when it is pointed at."""
    sli = field.sli
    if sli is None:
        if field.fails:
            return "no answer"
        return "nothing counts" if field.all else "not measured"
    said = [f"{profile.percentile} {field.sli_us:,.0f} µs, worst {field.worst_us:,.0f} µs"]
    if sli.interval:
        said.append(f"{PERCENT} % interval of the geometric mean, {sli.centre:,.0f} µs: "
                    f"{sli.interval.low:,.0f} to {sli.interval.high:,.0f} µs")  # fmt: skip
    said.append(f"median {sli.median:,.0f}, from send {_us(field.from_send)}")
    said.append(f"achieved {field.achieved_share:.1%}, {len(sli.values)} rounds")
    if field.left_out:
        said.append(f"{field.left_out} left out")
    return "; ".join(said)


def _us(spread: object) -> str:
    return f"{spread.centre:,.0f} µs" if spread else "unknown"


def _head(profile: Profile, index: int) -> str:
    """1.2M; 150k; 7.5k; the share of the peak where no rate is known."""
    rate = profile.target_per_s(index)
    if rate is None:
        return f"{100 * profile.loads[index]:.0f}%"
    if rate >= 999_500:
        return f"{rate / 1e6:.1f}M"
    return f"{rate / 1000:.0f}k" if rate >= 99_950 else f"{rate / 1000:.1f}k"
