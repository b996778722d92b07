"""May the numbers be believed?

A load that was not reached is a result (FAIL in the table), and no fault of the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turntable import rules
from turntable.percentiles import percentile_us
from turntable.systems.swan.measurement import Measurement, ProbeRow
from turntable.verdict import Case, Finding, Rule, judge


def _sent_late(case: Case) -> Finding:
    """What the generator was late with is in the latency, and none of memcached's. It has every
    request until a generator that fell behind had caught up (src/load/open_loop.h).
    """
    slo_us = case.parameters["slo_us"]

    def share(measurement: Measurement) -> float | None:
        late_us = percentile_us(measurement.generator.send_late_ns, 99)
        return None if late_us is None else late_us / slo_us

    return rules.limit(
        case,
        "requests were sent late (99th percentile, share of the SLO)",
        share,
        case.bounds.get("send_late_slo_share_max"),
    )


def _offered(case: Case) -> Finding:
    """Requests of the schedule in the window, beside rate times window."""
    return rules.offered(
        case, lambda m: (m.generator.offered, m.generator.target_per_s * m.seconds)
    )


def _misses(case: Case) -> Finding:
    """A miss is answered without a value: less work, and not the work that was asked for."""
    return rules.limit(
        case,
        "GETs missed (share of them)",
        lambda m: m.generator.misses / max(m.generator.gets, 1),
        case.bounds.get("miss_share_max"),
    )


def _in(count: int, case: Case) -> str:
    return f"in {count} of {len(case.measurements)} iterations"


def _restarted(case: Case) -> Finding:
    count = sum(m.memcached.restarted for m in case.measurements)
    if not count:
        return Finding()
    return Finding(f"memcached restarted {_in(count, case)}")


def _ended_early(case: Case) -> Finding:
    """There was no neighbour, or a part of it, for a part of the window."""
    ended = [
        f"{m.best_effort.name} {m.best_effort.ended_early}"
        for m in case.measurements
        if m.best_effort and m.best_effort.ended_early
    ]
    if not ended:
        return Finding()
    return Finding(
        f"an aggressor, or a part of it, ended early {_in(len(ended), case)}: {ended[0]}"
    )


def _idle(case: Case) -> Finding:
    """The process that was started may live on without those that did its work."""
    idle = [
        m.best_effort.name
        for m in case.measurements
        if m.best_effort and m.best_effort.progress and not m.best_effort.cpu_s
    ]
    if not idle:
        return Finding()
    return Finding(f"an aggressor used no processor time {_in(len(idle), case)}: {idle[0]}")


def _others(case: Case) -> Finding:
    return rules.limit(
        case,
        "others used the processors (share of their time)",
        lambda m: m.others_share,
        case.bounds.get("others_share_max"),
    )


def _probe(case: Case) -> Finding:
    """The machine is another one than at the begin of the run."""
    if not any(m.first_probe for m in case.measurements):
        return Finding(not_checked="the raw files do not have the probe of the run's first turn")
    return rules.limit(
        case,
        "the machine's speed changed since the run began (probe, share)",
        lambda m: drift(m.first_probe, m.probe),
        case.bounds.get("probe_drift_max"),
    )


def drift(before: Sequence[ProbeRow], after: Sequence[ProbeRow]) -> float | None:
    """The largest change of what both have, as a share of the smaller; None: they share nothing.
    Of the processor alone: what the host's other guests leave of the last cache and of memory
    changes by the factor of two from one minute to the next, and is quoted beside the results.
    """
    first = {row.what: row.value for row in before if row.is_of_processor}
    now = {row.what: row.value for row in after if row.is_of_processor}
    pairs = [(first[what], now[what]) for what in first.keys() & now.keys()]
    return max((max(pair) / min(pair) - 1 for pair in pairs if min(pair) > 0), default=None)


# In the order in which reasons are given: what is wrong first, what may explain it after.
RULES: Mapping[str, Rule] = {
    "errors": rules.errors,
    "memcached": _restarted,
    "aggressor": _ended_early,
    "aggressor idle": _idle,
    "misses": _misses,
    "offered": _offered,
    "sent late": _sent_late,
    "NIC drops": rules.nic_drops,
    "late start": rules.late_start_of_warm_up,
    "late end": rules.late_end,
    "clients starved": rules.starved("a generator's thread", lambda m: m.generator.wait_share),
    "others": _others,
    "probe": _probe,
    "steal": rules.steal,
}

# The ones that blame the machine.
MACHINE_RULES = rules.OF_MACHINE | {"sent late", "others"}


def reasons_of(measurement: Measurement, case: Case) -> tuple[str, ...]:
    """Why this iteration alone may not be believed. case: of its turn."""
    alone = Case([measurement], 1, case.bounds, case.parameters, case.fidelity_class)
    return judge(RULES, alone).reasons
