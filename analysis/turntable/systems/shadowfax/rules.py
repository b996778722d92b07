"""May the numbers be believed?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from turntable import rules
from turntable.percentiles import percentile_us
from turntable.systems.shadowfax import capacity
from turntable.systems.shadowfax.little import little_us, why_unknown
from turntable.systems.shadowfax.measurement import Measurement
from turntable.verdict import Case, Finding, Rule


def _sums(case: Case) -> Finding:
    """Keys begin at 0 and additions add 1: the values are all that was added. What was sent and not
    answered may be there or not.
    """
    for measurement in case.measurements:
        servers, clients = measurement.servers, measurement.clients
        if servers.sum is None:
            continue
        least, most = clients.adds_acknowledged_total, clients.adds_issued_total
        if not least <= servers.sum <= most:
            expected = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            return Finding(
                f"values add up to {servers.sum:,} in iteration {measurement.iteration}; clients "
                f"have added {expected}"
            )
        if servers.found != case.parameters["keys"]:
            return Finding(
                f"{servers.found:,} keys have a value in iteration {measurement.iteration}, not "
                f"{case.parameters['keys']:,}"
            )
    return Finding()


def _missing(case: Case) -> Finding:
    """All keys were stored, and nobody deletes any: a store that lacks one has lost it, or has no
    room for it. Keys of a file may be others.
    """
    if case.parameters["txns_file"]:
        return Finding()
    missing = sum(measurement.clients.not_found for measurement in case.measurements)
    return Finding(f"{missing:,} operations found their key missing") if missing else Finding()


def _consistency(case: Case) -> Finding:
    """Little's law holds for whatever waits in a full pipeline: its mean round trip is what is
    under way divided by what comes out. If it does not, throughput or round trip is wrong. Where
    the law says nothing of an iteration, the verdict says that it was not checked, and why.
    """
    most = case.bounds.get("consistency_difference_max")
    if most is None:
        return Finding(not_checked=rules.NO_BOUND)

    def difference(measurement: Measurement) -> float | None:
        clients = measurement.clients
        expected = little_us(measurement, case.parameters)
        if expected is None or clients.round_trip_mean_us is None:
            return None
        return abs(clients.round_trip_mean_us / expected - 1)

    finding = rules.limit(
        case,
        "mean round trip and throughput contradict each other (Little's law, share)",
        difference,
        most,
    )
    whys = [why for m in case.measurements if (why := why_unknown(m)) is not None]
    if not whys:
        return finding
    where = f"in {len(whys)} of {len(case.measurements)} iterations"
    return replace(finding, not_checked=f"{'; '.join(dict.fromkeys(whys))}, {where}")


def _refused(case: Case) -> Finding:
    """Servers that have too much to wait for serve none of a batch."""

    def share(measurement: Measurement) -> float:
        refused = measurement.clients.refused_batches
        return refused / max(refused + measurement.clients.batches, 1)

    return rules.limit(
        case,
        "servers refused batches (share of them)",
        share,
        case.bounds.get("refused_share_max"),
    )


def _offered(case: Case) -> Finding:
    """Operations of the schedule in the window, beside rate times window."""

    def counts(measurement: Measurement) -> tuple[int, float] | None:
        offered = measurement.clients.offered
        return (
            None
            if offered is None
            else (offered, case.parameters["rate_per_s"] * measurement.seconds)
        )

    return rules.offered(case, counts)


def _sent_late(case: Case) -> Finding:
    """What the generator was late with is in the latency, and none of the stores'."""

    def late_us(measurement: Measurement) -> float | None:
        if measurement.clients.offered is None:
            return 0.0
        return percentile_us(measurement.clients.send_late_ns, 99)

    return rules.limit(
        case,
        "operations were sent late (99th percentile, µs)",
        late_us,
        case.bounds.get("send_late_us_max"),
    )


def _migrations(case: Case) -> Finding:
    """What the timeline began has ended: all keys are where they are to be."""
    for measurement in case.measurements:
        for migration in measurement.migrations:
            if not migration.complete:
                last = max(migration.steps_s, key=migration.steps_s.__getitem__, default="none")
                why = f": {migration.why}" if migration.why else ""
                return Finding(f"keys did not all move; the last step was {last!r}{why}")
    return Finding()


def _capacity(case: Case) -> Finding:
    """Where servers have a capacity the busier one runs at it, before and after keys move: what
    else limits it is not what was to be measured. Of keys that are not uniform, shares do not say
    which one that is.
    """
    parameters = case.parameters
    if not parameters["capacity_per_s"] or parameters["rate_per_s"]:
        return Finding()
    if parameters["distribution"] != "uniform":
        return Finding()

    def difference(measurement: Measurement) -> float | None:
        rates = [
            capacity.ops_per_s(measurement, phase, phase.busiest)
            for phase in capacity.phases(measurement, case.parameters).values()
        ]
        differences = [
            abs(rate / parameters["capacity_per_s"] - 1) for rate in rates if rate is not None
        ]
        return max(differences, default=None)

    return rules.limit(
        case,
        "the busier server was not at its capacity (share)",
        difference,
        case.bounds.get("capacity_difference_max"),
    )


# In the order in which reasons are given: what is wrong first, what may explain it after.
RULES: Mapping[str, Rule] = {
    "errors": rules.errors,
    "sums": _sums,
    "missing": _missing,
    "migrations": _migrations,
    "capacity": _capacity,
    "consistency": _consistency,
    "unanswered": rules.losses(
        "operations were never answered", lambda m: m.clients.unanswered_total
    ),
    "refused": _refused,
    "offered": _offered,
    "sent late": _sent_late,
    "NIC drops": rules.nic_drops,
    "late start": rules.late_start_of_warm_up,
    "late end": rules.late_end,
    "clients starved": rules.starved("a client's thread", lambda m: m.clients.wait_share),
    "servers starved": rules.starved("a worker", lambda m: m.servers.wait_share),
    "steal": rules.steal,
}

# The ones that blame the machine.
MACHINE_RULES = rules.OF_MACHINE | {"sent late", "servers starved"}
