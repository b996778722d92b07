"""Are requests shared out as the traces promise, over partitions and between switch and servers?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turntable.rules import NO_BOUND
from turntable.systems.farreach.composition import rotated_shares, unsettled_share
from turntable.systems.farreach.expected import NoPromiseError, Share
from turntable.systems.farreach.hits import hit_shares
from turntable.verdict import Case, Finding
from turntable_systems.farreach.methods import caches


def hits(case: Case) -> Finding:
    """The switch answered as many requests as its cached keys promise: servers run at their
    capacity with a cache that answers nothing, too.
    """
    if not caches(case.parameters):
        return Finding()
    return _shares(
        case,
        hit_shares,
        case.bounds.get("hit_share_errors_max"),
        "the switch answered {} of the requests in iteration {}, but its cached keys promise {}",
    )


def composition(case: Case) -> Finding:
    """Both partitions of an iteration got their shares: utilization does not tell."""
    return _shares(
        case,
        rotated_shares,
        case.bounds.get("composition_errors_max"),
        "{} of what servers answered in iteration {} was the rotated partition's, but the traces "
        "promise {}",
    )


def _shares(
    case: Case,
    shares_of: Callable[..., list[Share]],
    most: float | None,
    what: str,  # with places for what was measured, the iteration, what is expected
) -> Finding:
    try:
        shares = _promised(case, most, shares_of)
    except NoPromiseError as why:
        return Finding(not_checked=str(why))
    apart = [share for share in shares if share.errors > most]
    if not apart:
        return Finding()
    worst = max(apart, key=lambda share: share.errors)
    text = what.format(f"{worst.measured:.2%}", worst.iteration, f"{worst.expected:.2%}")
    return Finding(
        f"{text}: apart by {worst.errors:.0f} standard errors of this window (at most {most:g}), "
        f"in {len(apart)} of {len(shares)} iterations by more than that"
    )


def _promised(case: Case, most: float | None, promise: Callable[..., Any]) -> Any:
    if most is None:
        raise NoPromiseError(NO_BOUND)
    if case.prediction is None:
        raise NoPromiseError("the turn has no prediction")
    return promise(case.measurements, case.prediction, case.parameters)


def settled(case: Case) -> Finding:
    """The queues of the beginning were gone before they could change the result."""
    most = case.bounds.get("unsettled_share_max")
    try:
        share = _promised(case, most, unsettled_share)
    except NoPromiseError as why:
        return Finding(not_checked=str(why))
    if share <= most:
        return Finding()
    return Finding(
        "the closed loop had not settled when the window began: queues of the beginning change "
        f"normalized throughput by {share:.1%} (at most {most:.1%}); warm up for longer, or take "
        "fewer clients"
    )
