"""Rules of a verdict that every system can use, each with its bound from the `validity` section of
the experiment. Each system's page of docs/ argues for its bounds.

Those that differ from system to system are made: `losses("requests were sent again", count)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import sqrt

from turntable.measurement import Measurement
from turntable.verdict import Case, Finding, Rule
from turntable_core.switch import DROPS, THREAD

NO_BOUND = "the plan's validity section has no bound for it"


def limit(
    case: Case,
    what: str,
    value: Callable[[Measurement], float | None],
    most: float | None,
) -> Finding:
    """value: of one iteration, None without data; broken where it is above `most`."""
    if most is None:
        return Finding(not_checked=NO_BOUND)
    values = [value(measurement) for measurement in case.measurements]
    known = [value for value in values if value is not None]
    above = [value for value in known if value > most]
    not_checked = without_data(len(values) - len(known), case)
    if not above:
        return Finding(not_checked=not_checked)
    where = f"in {len(above)} of {len(values)} iterations"
    return Finding(
        f"{what}: up to {_short(max(above))} {where} (at most {_short(most)})", not_checked
    )


def without_data(lacking: int, case: Case) -> str | None:
    """Raw files of an older version, or of a kernel that does not count."""
    if lacking == 0:
        return None
    return f"no data in the raw files of {lacking} of {len(case.measurements)} iterations"


def errors(case: Case) -> Finding:
    """What must not happen at all did not."""
    counts: dict[str, int] = {}
    for measurement in case.measurements:
        for name, count in measurement.errors.items():
            counts[name] = counts.get(name, 0) + count
    if not counts:
        return Finding()
    listed = ", ".join(f"{name} {n}" for name, n in counts.items())
    return Finding(f"errors were counted: {listed}")


def losses(what: str, count: Callable[[Measurement], int | None]) -> Rule:
    """Packets, as a share of the iteration's requests."""

    def share(measurement: Measurement) -> float | None:
        lost = count(measurement)
        return None if lost is None else lost / max(measurement.requests_total, 1)

    return lambda case: limit(case, f"{what} (share of requests)", share, case.loss_share)


_SIGMAS = 4  # of arrivals that are drawn, above which their number is no accident


def offered(case: Case, counts: Callable[[Measurement], tuple[int, float] | None]) -> Finding:
    """Requests of an open loop's schedule in the window. counts: how many there were, and how many
    rate times window asks for; None: it was no open loop.
    """

    def beyond(measurement: Measurement) -> float:
        counted = counts(measurement)
        if counted is None:
            return 0.0
        there, expected = counted
        by_chance = _SIGMAS / sqrt(max(expected, 1))
        return max(0.0, abs(there / max(expected, 1) - 1) - by_chance)

    return limit(
        case,
        "another load was offered than its schedule has (share, beyond chance)",
        beyond,
        case.bounds.get("offered_difference_max"),
    )


retries = losses("requests were sent again", lambda m: m.retries)


def switch_drops(case: Case) -> Finding:
    def drops(measurement: Measurement) -> int | None:
        by_reason = measurement.switch_drops
        return None if by_reason is None else sum(by_reason.values())

    reasons = {name for m in case.measurements for name in m.switch_drops or {}}
    finding = losses(f"the switch dropped packets, {', '.join(sorted(reasons))}", drops)(case)
    return replace(finding, not_checked=_not_measured(case, DROPS) or finding.not_checked)


def _nic_drops(measurement: Measurement) -> int | None:
    hosts = measurement.hosts
    return None if hosts is None else sum(host.nic_drops for host in hosts)


nic_drops = losses("network interfaces dropped packets", _nic_drops)


def late_start(most_us: Callable[[Case], float | None]) -> Rule:
    """most_us: after which too little of the warm-up would be left."""
    return lambda case: limit(
        case, "clients started late (µs)", lambda m: m.start_lateness_us, most_us(case)
    )


def _most_of_warm_up_us(case: Case) -> float | None:
    share, parameters = case.bounds.get("late_share_max"), case.parameters
    if share is None:
        return None
    return 1e6 * max(parameters["warmup_s"] / 2, share * parameters["measure_s"])


# Half of the warm-up, or a share of the window where there is little of it.
late_start_of_warm_up = late_start(_most_of_warm_up_us)


def late_end(case: Case) -> Finding:
    def share(measurement: Measurement) -> float | None:
        late_us = measurement.end_lateness_us
        return None if late_us is None else late_us / 1e6 / measurement.seconds

    return limit(
        case,
        "clients closed the window late (share of the window)",
        share,
        case.bounds.get("late_share_max"),
    )


def steal(case: Case) -> Finding:
    def worst(measurement: Measurement) -> float | None:
        hosts = measurement.hosts
        return None if hosts is None else max(host.steal_share for host in hosts)

    return limit(
        case,
        "processors of a host were stolen (share of their time)",
        worst,
        case.bounds.get("steal_share_max"),
    )


def starved(who: str, wait_share: Callable[[Measurement], float | None]) -> Rule:
    """Threads were ready to run, and had to wait for a processor."""
    return lambda case: limit(
        case,
        f"{who} waited for a processor (share of the time)",
        wait_share,
        case.bounds.get("wait_share_max"),
    )


def of_switch_thread(rule: Rule) -> Rule:
    """Where a switch cannot tell how its thread got on, the rule says that, and why."""

    def checked(case: Case) -> Finding:
        finding, why = rule(case), _not_measured(case, THREAD)
        return replace(finding, not_checked=why) if why and finding.not_checked else finding

    return checked


def _not_measured(case: Case, what: str) -> str | None:
    whys = (m.switch_not_measured.get(what) for m in case.measurements)
    return next((why for why in whys if why), None)


switch_starved = of_switch_thread(
    starved("the switch", lambda m: m.switch_thread.wait_share),
)


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


# Whatever the system: what the host did not give, the method cannot be blamed for.
OF_MACHINE = frozenset(
    {
        *("late start", "late end", "steal", "switch stalls", "client stalls"),
        *("switch starved", "clients starved"),
    }
)

# Of systems that name none of their own. In the order in which reasons are given: what is wrong
# first, what may explain it after.
COMMON: Mapping[str, Rule] = {
    "errors": errors,
    "retries": retries,
    "NIC drops": nic_drops,
    "late start": late_start(lambda case: case.bounds.get("start_late_us_max")),
    "late end": late_end,
    "steal": steal,
}
