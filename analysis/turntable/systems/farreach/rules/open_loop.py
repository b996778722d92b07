"""Was offered what was planned, at its instants, and was it answered?"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from turntable import histograms
from turntable.rules import limit
from turntable.systems.farreach.measurement import LogicalServer, Measurement
from turntable.systems.farreach.open_loop import Latencies
from turntable.systems.farreach.rules.capacity import lost_share
from turntable.systems.farreach.state import delivered_share, is_saturated
from turntable.verdict import Case, Finding, Rule
from turntable_systems.farreach.offered import is_open, offered_ops_per_s


def closed_only(rule: Rule) -> Rule:
    """A rule about loops whose queues never end, or about when they settle."""
    return lambda case: Finding() if is_open(case.parameters) else rule(case)


def open_only(rule: Rule) -> Rule:
    return lambda case: rule(case) if is_open(case.parameters) else Finding()


def either(closed: Rule, opened: Rule) -> Rule:
    return lambda case: opened(case) if is_open(case.parameters) else closed(case)


def below_saturation(rule: Rule) -> Rule:
    """A rule about what queues without end do not keep: a saturated open loop is asked nothing."""
    return lambda case: Finding() if is_saturated(case) else rule(case)


def offered(case: Case) -> Finding:
    """As many requests as planned, to within their own scatter."""

    def errors(measurement: Measurement) -> float | None:
        loop = measurement.open_loop
        if loop is None:
            return None
        rate = offered_ops_per_s(case.parameters, case.prediction, measurement.partitions)
        planned = rate * measurement.seconds
        return abs(loop.offered - planned) / sqrt(planned)

    return limit(
        case,
        "clients offered another load than planned (standard errors)",
        errors,
        case.bounds.get("offered_errors_max"),
    )


@below_saturation
def delivered(case: Case) -> Finding:
    """What is offered is answered, unless it is more than can be."""

    def missing(measurement: Measurement) -> float | None:
        share = delivered_share(measurement)
        return None if share is None else abs(1 - share)

    return limit(
        case,
        "not as much was delivered as was offered (share of it)",
        missing,
        case.bounds.get("delivered_difference_max"),
    )


def _sent_late_us(measurement: Measurement) -> float | None:
    loop = measurement.open_loop
    if loop is None:
        return None
    return histograms.merge((text, 1.0) for text in loop.send_late).percentile(99)


def sent_late(case: Case) -> Finding:
    """p99: instants that are not kept are no Poisson process."""
    return limit(
        case,
        "requests were sent late (p99, µs)",
        _sent_late_us,
        case.bounds.get("send_late_us_max"),
    )


@below_saturation
def withheld(case: Case) -> Finding:
    """By the limit of outstanding requests, which saturated cells may reach."""

    def share(measurement: Measurement) -> float | None:
        loop = measurement.open_loop
        return None if loop is None else loop.withheld / max(loop.offered, 1)

    what = "requests were withheld by outstanding_max (share of requests)"
    return limit(case, what, share, case.loss_share)


def stall(who: str, late_us: Callable[[Measurement], float | None]) -> Rule:
    """All that comes during a stall waits for its end, half of it on average, and then for each
    other: its server works the queue off at what its load leaves.
    """

    def rule(case: Case) -> Finding:
        def cost(measurement: Measurement) -> float | None:
            late, loop = late_us(measurement), measurement.open_loop
            mean_us = None if loop is None else loop.latencies.mean_us
            if late is None or not mean_us:
                return None
            slack = max(1 - _busy(measurement), _LEAST_SLACK)
            return late**2 / 2e6 / measurement.seconds / slack / mean_us

        return limit(
            case,
            f"{who} stalled, which makes latencies longer (share of their mean)",
            cost,
            case.bounds.get("stall_latency_share_max"),
        )

    return below_saturation(rule)


_LEAST_SLACK = 0.01  # beyond it there is no steady queue


def _busy(measurement: Measurement) -> float:
    return max((server.busy_share for server in measurement.servers), default=0.0)


@below_saturation
def lost_capacity(case: Case) -> Finding:
    """As a share of what the server's load leaves: lost time fills it as load does."""

    def lost(measurement: Measurement) -> float | None:
        shares = [_lost_of_slack(server, measurement.seconds) for server in measurement.servers]
        return None if None in shares else max(shares, default=0.0)

    return limit(
        case,
        "servers waited for a processor or their store (share of the time their load leaves)",
        lost,
        case.bounds.get("capacity_lost_share_max"),
    )


def _lost_of_slack(server: LogicalServer, seconds: float) -> float | None:
    share = lost_share(server, seconds)
    return None if share is None else share / max(1 - server.busy_share, _LEAST_SLACK)


def idle_path(case: Case) -> Finding:
    """Mean over median of the requests that were sent one at a time: what disturbs some of them
    would count as the path of all. Real servers have such tails of their own.
    """
    if not case.parameters["capacity_ops_per_s"]:
        return Finding()

    def skew(measurement: Measurement) -> float | None:
        if measurement.open_loop is None:
            return None
        parts = measurement.open_loop.partitions.values()
        mean = sum((part.idle_server for part in parts), Latencies()).mean_us
        texts = [(text, 1.0) for part in parts for text in part.idle_server_texts]
        median = histograms.merge(texts).percentile(50)
        return mean / median if mean and median else 1.0  # none were sent

    return limit(
        case,
        "the idle path was disturbed while it was measured (mean / median)",
        skew,
        case.bounds.get("path_skew_max"),
    )
